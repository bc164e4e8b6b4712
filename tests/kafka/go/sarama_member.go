// A consumer of sarama that runs until told to stop: `sarama-member JSON`.
//
// The argument, the journal and the events are those of confluent_member.py, as far as a group of sarama has them: a
// session's claims are assigned when it begins and revoked when it ends. The settings have Kafka's names, and the
// assignor is sarama's `sticky`.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"
	"golang.org/x/sys/unix"
)

// rejoinAfter is how long it waits after an error of Consume.
const rejoinAfter = 100 * time.Millisecond

type asked struct {
	Member  string         `json:"member"`
	Topics  []string       `json:"topics"`
	Config  map[string]any `json:"config"`
	Journal string         `json:"journal"`
}

type partitions = map[string][]int32

type event struct {
	Member     string     `json:"member"`
	Event      string     `json:"event"`
	Partitions partitions `json:"partitions,omitempty"`
	Assignment partitions `json:"assignment"` // nil: the event does not report it
	MemberID   string     `json:"member_id,omitempty"`
	Reason     string     `json:"reason,omitempty"`
}

type member struct {
	name    string
	lock    sync.Mutex // each claim has a goroutine of its own
	journal io.Writer
}

func main() {
	var wanted asked
	if err := json.Unmarshal([]byte(os.Args[1]), &wanted); err != nil {
		log.Fatal(err)
	}
	config, brokers, group, err := configured(wanted.Config)
	if err != nil {
		log.Fatal(err)
	}
	consumers, err := sarama.NewConsumerGroup(brokers, group, config)
	if err != nil {
		log.Fatal(err)
	}
	own := &member{name: wanted.Member, journal: io.Discard}
	if wanted.Journal != "" {
		if own.journal, err = os.Create(wanted.Journal); err != nil {
			log.Fatal(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	go func() { // At the end of its input the tests are gone, however they ended: so is the consumer.
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			log.Fatalf("not known: %s", lines.Text())
		}
		stop()
	}()
	own.say(event{Event: "started"})
	for ctx.Err() == nil {
		if err := consumers.Consume(ctx, wanted.Topics, own); err != nil && !errors.Is(err, context.Canceled) {
			own.say(event{Event: "error", Reason: err.Error()})
			select {
			case <-ctx.Done():
			case <-time.After(rejoinAfter):
			}
		}
	}
	if err := consumers.Close(); err != nil {
		log.Fatal(err)
	}
	own.say(event{Event: "stopped"})
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
func (own *member) Setup(session sarama.ConsumerGroupSession) error {
	own.writeAll("assigned", session.Claims())
	held := partitions{}
	maps.Copy(held, session.Claims())
	own.say(event{Event: "assigned", Partitions: held, Assignment: held, MemberID: session.MemberID()})
	return nil
}

// Cleanup is called when all its claims have ended, before the last commit and before it joins again or leaves.
func (own *member) Cleanup(session sarama.ConsumerGroupSession) error {
	own.writeAll("revoked", session.Claims())
	own.say(event{
		Event: "revoked", Partitions: session.Claims(), Assignment: partitions{}, MemberID: session.MemberID(),
	})
	return nil
}

// ConsumeClaim consumes one partition until the session ends.
func (own *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case record, there := <-claim.Messages():
			if !there {
				return nil
			}
			own.write("record", record.Topic, record.Partition, strconv.FormatInt(record.Offset, 10))
			session.MarkMessage(record, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func (own *member) writeAll(kind string, claims partitions) {
	for _, topic := range slices.Sorted(maps.Keys(claims)) {
		for _, partition := range claims[topic] {
			own.write(kind, topic, partition, "-")
		}
	}
}

// write adds a line to the journal, at the time of the clock that Python's and Java's consumers read.
func (own *member) write(kind, topic string, partition int32, offset string) {
	own.lock.Lock()
	defer own.lock.Unlock()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		log.Fatal(err)
	}
	if _, err := fmt.Fprintf(own.journal, "%d %s %s %d %s\n", now.Nano(), kind, topic, partition, offset); err != nil {
		log.Fatal(err)
	}
}

func (own *member) say(what event) {
	own.lock.Lock()
	defer own.lock.Unlock()
	what.Member = own.name
	line, err := json.Marshal(what)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}
