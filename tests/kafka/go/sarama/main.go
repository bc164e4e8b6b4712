// A consumer of sarama that runs until it is stopped: `sarama JSON`.
//
// The argument, the journal and the events are those of confluent_member.py, as far as a group of sarama has them: a
// session's claims are assigned when it begins and revoked when it ends. The settings have Kafka's names, and the
// assignor is sarama's `sticky`.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kohort/tests/kafka/go/member"

	"github.com/IBM/sarama"
)

// rejoinAfter is how long it waits after an error of Consume.
const rejoinAfter = 100 * time.Millisecond

var compressions = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

type application struct {
	*member.Reporter
	config  *sarama.Config
	brokers []string
}

func main() {
	var own application
	ready := make(chan struct{})
	wanted, reporter, ctx := member.Start(func(_ *member.Reporter, action member.Action) {
		<-ready
		own.act(action)
	})
	config, brokers, group, err := configured(wanted.Config)
	member.Must(err)
	consumers, err := sarama.NewConsumerGroup(brokers, group, config)
	member.Must(err)
	own = application{Reporter: reporter, config: config, brokers: brokers}
	close(ready)
	own.Say("started", "")
	for ctx.Err() == nil {
		if err := consumers.Consume(ctx, wanted.Topics, &own); err != nil && !errors.Is(err, context.Canceled) {
			own.Say("error", err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(rejoinAfter):
			}
		}
	}
	member.Must(consumers.Close())
	own.Say("stopped", "")
}

// configured gives sarama's form of Kafka's settings; one without a form is an error.
func configured(settings map[string]any) (config *sarama.Config, brokers []string, group string, err error) {
	config = sarama.NewConfig()
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
	for key, value := range settings {
		text := fmt.Sprint(value)
		switch key {
		case "bootstrap.servers":
			brokers = []string{text}
		case "group.id":
			group = text
		case "group.instance.id":
			config.Consumer.Group.InstanceId = text
		case "client.id":
			config.ClientID = text
		case "session.timeout.ms":
			err = milliseconds(text, &config.Consumer.Group.Session.Timeout)
		case "heartbeat.interval.ms":
			err = milliseconds(text, &config.Consumer.Group.Heartbeat.Interval)
		case "auto.commit.interval.ms":
			err = milliseconds(text, &config.Consumer.Offsets.AutoCommit.Interval)
		case "auto.offset.reset":
			config.Consumer.Offsets.Initial = map[string]int64{
				"earliest": sarama.OffsetOldest, "latest": sarama.OffsetNewest,
			}[text]
		default:
			err = fmt.Errorf("%s has no form here", key)
		}
		if err != nil {
			return nil, nil, "", err
		}
	}
	return config, brokers, group, nil
}

func milliseconds(text string, setting *time.Duration) error {
	number, err := strconv.Atoi(text)
	*setting = time.Duration(number) * time.Millisecond
	return err
}

// Setup is called when a session begins, before a record is consumed.
func (own *application) Setup(session sarama.ConsumerGroupSession) error {
	own.Assigned(session.Claims(), session.MemberID())
	return nil
}

// Cleanup is called when all its claims have ended, before the last commit and before it joins again or leaves.
func (own *application) Cleanup(session sarama.ConsumerGroupSession) error {
	own.GivenUp("revoked", session.Claims(), session.MemberID())
	return nil
}

// ConsumeClaim consumes one partition until the session ends.
func (own *application) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case record, there := <-claim.Messages():
			if !there {
				return nil
			}
			own.Consumed(record.Topic, record.Partition, record.Offset, record.Key, record.Value)
			session.MarkMessage(record, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func (own *application) act(action member.Action) {
	switch action.Do {
	case "produce":
		own.produce(action)
	case "offsets_for_times":
		client, err := sarama.NewClient(own.brokers, own.config)
		member.Must(err)
		defer client.Close()
		found := make([]string, len(action.Partitions))
		for at, partition := range action.Partitions {
			offset, err := client.GetOffset(action.Topic, partition, action.AtMs)
			member.Must(err)
			found[at] = strconv.FormatInt(offset, 10)
		}
		own.Say("offsets", strings.Join(found, " "))
	default:
		member.Must(fmt.Errorf("not known: %s", action.Do))
	}
}

func (own *application) produce(action member.Action) {
	config := *own.config
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Compression = compressions[action.Compression]
	producer, err := sarama.NewSyncProducer(own.brokers, &config)
	member.Must(err)
	messages := make([]*sarama.ProducerMessage, len(action.Records))
	for at, record := range action.Records {
		messages[at] = &sarama.ProducerMessage{
			Topic: action.Topic, Partition: action.Partition,
			Key: sarama.StringEncoder(record[0]), Value: sarama.StringEncoder(record[1]),
		}
	}
	member.Must(producer.SendMessages(messages))
	member.Must(producer.Close())
	own.Say("produced", "")
}
