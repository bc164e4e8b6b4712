// Package member is what a consumer's program is asked and what it reports, whatever library it uses.
//
// The argument, the actions, the journal and the events are those of confluent_member.py.
package member

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Asked is the argument of the program; the settings have Kafka's names.
type Asked struct {
	Member  string         `json:"member"`
	Topics  []string       `json:"topics"`
	Config  map[string]any `json:"config"`
	Journal string         `json:"journal"`
}

// Action is what a line of stdin wants.
type Action struct {
	Do          string      `json:"do"`
	Topic       string      `json:"topic"`
	Partition   int32       `json:"partition"`
	Partitions  []int32     `json:"partitions"`
	Compression string      `json:"compression"`
	Records     [][2]string `json:"records"`
	AtMs        int64       `json:"at_ms"`
}

// Partitions are those of each topic.
type Partitions = map[string][]int32

type event struct {
	Member     string     `json:"member"`
	Event      string     `json:"event"`
	Partitions Partitions `json:"partitions,omitempty"`
	Assignment Partitions `json:"assignment"` // nil: the event does not report it
	MemberID   string     `json:"member_id,omitempty"`
	Reason     string     `json:"reason,omitempty"`
}

// Reporter prints the events of one consumer and keeps its journal, if one is wanted.
type Reporter struct {
	name    string
	lock    sync.Mutex // libraries call from many goroutines
	journal io.Writer
	held    Partitions
}

// Start reads the argument. The context ends when the program is to stop; each other line of stdin goes to act.
func Start(act func(*Reporter, Action)) (Asked, *Reporter, context.Context) {
	var wanted Asked
	Must(json.Unmarshal([]byte(os.Args[1]), &wanted))
	own := &Reporter{name: wanted.Member, journal: io.Discard, held: Partitions{}}
	if wanted.Journal != "" {
		file, err := os.Create(wanted.Journal)
		Must(err)
		own.journal = file
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	go func() { // At the end of its input the tests are gone, however they ended: so is the consumer.
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var action Action
			Must(json.Unmarshal(lines.Bytes(), &action))
			act(own, action)
		}
		stop()
	}()
	return wanted, own, ctx
}

// Must ends the program after an error.
func Must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Assigned reports partitions that it holds from now on, next to those it holds already.
func (own *Reporter) Assigned(partitions Partitions, memberID string) {
	own.lock.Lock()
	defer own.lock.Unlock()
	own.writeAll("assigned", partitions)
	for topic, numbers := range partitions {
		own.held[topic] = slices.Sorted(slices.Values(append(own.held[topic], numbers...)))
	}
	own.say(event{Event: "assigned", Partitions: partitions, Assignment: own.held, MemberID: memberID})
}

// GivenUp reports partitions that are "revoked" or "lost".
func (own *Reporter) GivenUp(kind string, partitions Partitions, memberID string) {
	own.lock.Lock()
	defer own.lock.Unlock()
	own.writeAll(kind, partitions)
	for topic, numbers := range partitions {
		gone := func(number int32) bool { return slices.Contains(numbers, number) }
		own.held[topic] = slices.DeleteFunc(own.held[topic], gone)
		if len(own.held[topic]) == 0 {
			delete(own.held, topic)
		}
	}
	own.say(event{Event: kind, Partitions: partitions, Assignment: own.held, MemberID: memberID})
}

// Consumed writes down a record that it was given.
func (own *Reporter) Consumed(topic string, partition int32, offset int64, key, value []byte) {
	own.lock.Lock()
	defer own.lock.Unlock()
	own.write(fmt.Sprintf("record %s %d %d %s:%s", topic, partition, offset, key, value))
}

// Say prints an event that is not about partitions.
func (own *Reporter) Say(kind, reason string) {
	own.lock.Lock()
	defer own.lock.Unlock()
	own.say(event{Event: kind, Reason: reason})
}

func (own *Reporter) writeAll(kind string, partitions Partitions) {
	for _, topic := range slices.Sorted(maps.Keys(partitions)) {
		for _, partition := range partitions[topic] {
			own.write(fmt.Sprintf("%s %s %d -", kind, topic, partition))
		}
	}
}

// write adds a line to the journal, at the time of the clock that Python's and Java's consumers read.
func (own *Reporter) write(what string) {
	var now unix.Timespec
	Must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	_, err := fmt.Fprintf(own.journal, "%d %s\n", now.Nano(), what)
	Must(err)
}

func (own *Reporter) say(what event) {
	what.Member = own.name
	line, err := json.Marshal(what)
	Must(err)
	fmt.Println(string(line))
}
