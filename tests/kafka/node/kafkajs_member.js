// A consumer of kafkajs that runs until it is stopped: `node kafkajs_member.js JSON`.
//
// The argument, the journal and the events are those of confluent_member.py, as far as kafkajs has them: it has no
// listener, so its events of the group say what it is assigned; the assignor is its own round robin. It compresses by
// gzip without a plugin. A pattern is looked up once, when it subscribes.
'use strict'

const fs = require('node:fs')
const readline = require('node:readline')
const { CompressionTypes, Kafka, logLevel } = require('kafkajs')

const COMPRESSIONS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }
const asked = JSON.parse(process.argv[2])
const journal = asked.journal ? fs.openSync(asked.journal, 'w') : null
let held = {}

function say(event, fields = {}) {
  fs.writeSync(1, JSON.stringify({ member: asked.member, event, ...fields }) + '\n')
}

function write(line) {
  // Its clock is the one that Python's and Java's consumers read.
  if (journal !== null) fs.writeSync(journal, `${process.hrtime.bigint()} ${line}\n`)
}

function writeAll(kind, partitions) {
  for (const [topic, numbers] of Object.entries(partitions)) {
    for (const number of numbers) write(`${kind} ${topic} ${number} -`)
  }
}

function givenUp() {
  const partitions = held
  held = {}
  if (Object.keys(partitions).length === 0) return
  writeAll('revoked', partitions)
  say('revoked', { partitions, assignment: held })
}

function assigned({ payload: { memberAssignment, memberId } }) {
  givenUp()
  held = Object.fromEntries(
    Object.entries(memberAssignment).map(([topic, numbers]) => [topic, [...numbers].sort((a, b) => a - b)])
  )
  writeAll('assigned', held)
  say('assigned', { partitions: held, assignment: held, member_id: memberId })
}

async function produce(kafka, { topic, partition, compression, records }) {
  const producer = kafka.producer()
  await producer.connect()
  const messages = records.map(([key, value]) => ({ key, value, partition }))
  await producer.send({ topic, messages, acks: -1, compression: COMPRESSIONS[compression] })
  await producer.disconnect()
  say('produced')
}

async function lookUp(kafka, { topic, partitions, at_ms: atMs }) {
  const admin = kafka.admin()
  await admin.connect()
  // Where no record is so young it gives the end.
  const found = new Map((await admin.fetchTopicOffsetsByTimestamp(topic, atMs)).map((one) => [one.partition, one.offset]))
  await admin.disconnect()
  say('offsets', { reason: partitions.map((one) => found.get(one)).join(' ') })
}

async function main() {
  const config = asked.config
  const kafka = new Kafka({
    brokers: [config['bootstrap.servers']],
    clientId: config['client.id'],
    logLevel: logLevel.NOTHING,
  })
  const consumer = kafka.consumer({
    groupId: config['group.id'],
    heartbeatInterval: Number(config['heartbeat.interval.ms']),
    sessionTimeout: Number(config['session.timeout.ms'] || 30000),
    metadataMaxAge: Number(config['metadata.max.age.ms'] || 300000),
    maxWaitTimeInMs: 500,
  })
  consumer.on(consumer.events.GROUP_JOIN, assigned)
  consumer.on(consumer.events.REBALANCING, givenUp)
  consumer.on(consumer.events.CRASH, ({ payload }) => say('error', { reason: String(payload.error) }))

  let ending = false
  const stop = async () => {
    if (ending) return
    ending = true
    await consumer.disconnect()
    givenUp()
    say('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  const lines = readline.createInterface({ input: process.stdin })
  // At the end of its input the tests are gone, however they ended: so is the consumer.
  lines.on('close', stop)
  lines.on('line', async (line) => {
    const action = JSON.parse(line)
    if (action.do === 'produce') await produce(kafka, action)
    else if (action.do === 'offsets_for_times') await lookUp(kafka, action)
    else throw new Error(`not known: ${action.do}`)
  })

  await consumer.connect()
  const topics = asked.topics.map((one) => (one.startsWith('^') ? new RegExp(one) : one))
  await consumer.subscribe({ topics, fromBeginning: config['auto.offset.reset'] === 'earliest' })
  say('started')
  await consumer.run({
    autoCommitInterval: Number(config['auto.commit.interval.ms'] || 5000),
    eachMessage: async ({ topic, partition, message }) => {
      write(`record ${topic} ${partition} ${message.offset} ${message.key ?? ''}:${message.value ?? ''}`)
    },
  })
}

main().catch((error) => {
  say('error', { reason: String(error) })
  process.exit(1)
})
