// A consumer of franz-go that runs until it is stopped: `franz JSON`.
//
// The argument, the journal and the events are those of confluent_member.py, as far as franz-go has them. The settings
// have Kafka's names, and the assignor is franz-go's `cooperative-sticky`.
package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kohort/tests/kafka/go/member"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const poll = 100 * time.Millisecond

var compressions = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func main() {
	var client *kgo.Client
	var servers string
	ready := make(chan struct{})
	wanted, own, ctx := member.Start(func(own *member.Reporter, action member.Action) {
		<-ready
		act(own, client, servers, action)
	})
	options, servers, err := configured(wanted.Config)
	member.Must(err)
	memberID := func(client *kgo.Client) string {
		id, _ := client.GroupMetadata()
		return id
	}
	if strings.HasPrefix(wanted.Topics[0], "^") {
		options = append(options, kgo.ConsumeRegex())
	}
	client, err = kgo.NewClient(append(
		options,
		kgo.ConsumeTopics(wanted.Topics...),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, partitions map[string][]int32) {
			own.Assigned(partitions, memberID(client))
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
			// A listener replaces the commit that franz-go makes otherwise.
			if err := client.CommitUncommittedOffsets(ctx); err != nil {
				own.Say("error", err.Error())
			}
			own.GivenUp("revoked", partitions, memberID(client))
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			own.GivenUp("lost", partitions, "")
		}),
		// Nothing is given up between a poll and the line in the journal.
		kgo.BlockRebalanceOnPoll(),
	)...)
	member.Must(err)
	close(ready)
	own.Say("started", "")
	for ctx.Err() == nil {
		consume(ctx, own, client)
	}
	client.Close()
	own.Say("stopped", "")
}

func consume(ctx context.Context, own *member.Reporter, client *kgo.Client) {
	limited, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	fetches := client.PollFetches(limited)
	fetches.EachRecord(func(record *kgo.Record) {
		own.Consumed(record.Topic, record.Partition, record.Offset, record.Key, record.Value)
	})
	fetches.EachError(func(topic string, partition int32, err error) {
		if limited.Err() == nil {
			own.Say("error", fmt.Sprintf("%s %d: %v", topic, partition, err))
		}
	})
	client.AllowRebalance()
}

// configured gives franz-go's form of Kafka's settings; one without a form is an error.
func configured(settings map[string]any) (options []kgo.Opt, servers string, err error) {
	for key, value := range settings {
		text := fmt.Sprint(value)
		switch key {
		case "bootstrap.servers":
			servers = text
			options = append(options, kgo.SeedBrokers(text))
		case "group.id":
			options = append(options, kgo.ConsumerGroup(text))
		case "group.instance.id":
			options = append(options, kgo.InstanceID(text))
		case "client.id":
			options = append(options, kgo.ClientID(text))
		case "auto.offset.reset":
			if text == "earliest" {
				options = append(options, kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			}
		default:
			form, known := map[string]func(time.Duration) kgo.GroupOpt{
				"session.timeout.ms":      kgo.SessionTimeout,
				"heartbeat.interval.ms":   kgo.HeartbeatInterval,
				"auto.commit.interval.ms": kgo.AutoCommitInterval,
			}[key]
			number, failed := strconv.Atoi(text)
			if key == "metadata.max.age.ms" {
				age := time.Duration(number) * time.Millisecond
				options = append(options, kgo.MetadataMaxAge(age), kgo.MetadataMinAge(min(age, time.Second)))
				continue
			}
			if !known || failed != nil {
				return nil, "", fmt.Errorf("%s has no form here", key)
			}
			options = append(options, form(time.Duration(number)*time.Millisecond))
		}
	}
	return options, servers, nil
}

func act(own *member.Reporter, client *kgo.Client, servers string, action member.Action) {
	ctx := context.Background()
	switch action.Do {
	case "produce":
		producer, err := kgo.NewClient(
			kgo.SeedBrokers(servers),
			kgo.RecordPartitioner(kgo.ManualPartitioner()),
			kgo.ProducerBatchCompression(compressions[action.Compression]),
			kgo.ProducerLinger(poll/2),
		)
		member.Must(err)
		defer producer.Close()
		records := make([]*kgo.Record, len(action.Records))
		for at, record := range action.Records {
			records[at] = &kgo.Record{
				Topic: action.Topic, Partition: action.Partition, Key: []byte(record[0]), Value: []byte(record[1]),
			}
		}
		member.Must(producer.ProduceSync(ctx, records...).FirstErr())
		own.Say("produced", "")
	case "offsets_for_times":
		// Where no record is so young, kadm gives the end, as consumers of franz-go continue from there.
		listed, err := kadm.NewClient(client).ListOffsetsAfterMilli(ctx, action.AtMs, action.Topic)
		member.Must(err)
		found := make([]string, len(action.Partitions))
		for at, partition := range action.Partitions {
			one, _ := listed.Lookup(action.Topic, partition)
			member.Must(one.Err)
			if found[at] = strconv.FormatInt(one.Offset, 10); one.Timestamp < 0 {
				found[at] = "-1"
			}
		}
		own.Say("offsets", strings.Join(found, " "))
	default:
		member.Must(fmt.Errorf("not known: %s", action.Do))
	}
}
