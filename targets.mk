# The targets other than the everyday ones of the Makefile, which includes this file. `make help` shows all.
IMAGE_BUILD ?= docker build
# Nothing is left out: long tests run, and generated cases are many.
LONG := KOHORT_LONG=1 $(BIN)/python -m pytest --timeout 0

.PHONY: test-long regexes oracle walks migrations unattended executions dry-runs pipeline fuzz kills tabs simulations changes bridges \
	applications served-kills diagnoses incidents kerberos packages outages screens brokers matrix bench bench-assignors bench-coordinator \
	bench-serving bench-storage bench-plans bench-rehearsals bench-audit bench-pipeline bench-fleet-simulation \
	bench-exporter bench-scale bench-top bench-agents fleet-executions bench-histories bench-recorder pictures site man stories lock dist image release-notes

# A lock in addition to that of development.
$(VENV)/.ready-%: locks/%.txt $(SETUP)
	$(BIN)/$(PIP) $(LOCKED) --requirement $<
	@touch $@

##@ Long tests: `make test-long` is all of them, and takes hours

test-long: regexes oracle walks migrations unattended executions dry-runs pipeline fuzz kills tabs simulations changes bridges applications served-kills diagnoses incidents kerberos packages outages screens brokers ## Run everything that `make test` leaves out; takes hours

regexes: $(SETUP) ## Compare 10,000 patterns on 1,000 topics with RE2/J and Java (KOHORT_REGEX_SEED repeats)
	KOHORT_RANDOM=1 $(LONG) --capture no tests/groups/regex/test_engines.py tests/groups/regex/test_posix.py

oracle: $(SETUP) ## Compare 10,000 groups per assignor, 2,000 of Streams, and 5,000 lists of ACLs, with Kafka's own classes (KOHORT_ORACLE_SEED repeats)
	KOHORT_RANDOM=1 $(LONG) --capture no tests/assignors/test_oracle.py tests/assignors/test_librdkafka.py \
		tests/assignors/test_streams.py tests/coordinator/server/security/test_authorizer.py

walks: $(SETUP) ## Compare random sequences of requests on Kafka and Kohort, and play the table on three brokers (KOHORT_WALK_SEED repeats, KOHORT_WALK_STEPS)
	KOHORT_WALK_SEED=$${KOHORT_WALK_SEED:-$$(date +%s)} $(LONG) --capture no tests/conformance/walks tests/conformance/test_several_brokers.py

migrations: $(SETUP) ## Carry out printed plans on a real broker while a producer writes, predict 270 leaders, and verify offsets in copied logs
	$(LONG) --durations 30 tests/migration tests/docs/migrate tests/groups/test_succession_broker.py \
		tests/groups/offsets/test_proof.py tests/cli/verbs/offsets/test_cluster_copies.py \
		tests/cli/test_classic_streams.py tests/cli/test_streams_walks.py

unattended: $(SETUP) ## Have kohort migrate carry out 100 plans on a real broker, 102 where something goes wrong, and 100 that are killed (KOHORT_GROUPS_AT_ONCE); and fleets of 40, 12 and 6 groups on kohort serve
	KOHORT_KAFKA=$${KOHORT_KAFKA:-4.3.1} $(LONG) --capture no tests/migration/end_to_end/test_unattended.py \
		tests/cli/verbs/migrate/test_fleet_runs.py

executions: $(SETUP) ## Rehearse kohort migrate from 10,000 seeds, with commands that fail and a Kohort that is killed (KOHORT_EXECUTIONS: of each of seven journeys)
	KOHORT_EXECUTIONS=$${KOHORT_EXECUTIONS:-1430} $(LONG) --capture no tests/migration/execution/test_execution.py -k seeds

fleet-executions: $(SETUP) ## The same on Spark, for the groups of the sample, 100,000 seeds together (SEEDS: of each group)
	set -e; directory=$$(mktemp -d); trap 'rm -r $$directory' EXIT; $(BIN)/kohort demo $$directory/sample > $$directory/demo; \
	$(BIN)/kohort snapshot --embedded $$directory/sample --file $$directory/snapshot.yaml; \
	time $(BIN)/kohort fleet rehearse --snapshots $$directory/snapshot.yaml --to consumer --as-migrate --seeds $(or $(SEEDS),12500)

brokers: $(SETUP) ## Run the tests of commands on a real broker that `make test` runs on `kohort serve`
	KOHORT_BROKER=real $(BIN)/python -m pytest tests/cli --numprocesses $(JOBS) --dist loadfile

dry-runs: $(SETUP) ## Compare dry runs of live groups of every shape, also in two racks and of Kafka Streams, with the actual change
	$(LONG) tests/cli/verbs/dry_run

pipeline: $(SETUP) ## Test the whole pipeline: a cluster, the live topic, killed streams and sessions
	$(LONG) --numprocesses $(JOBS) --dist loadscope --durations 30 tests/pipeline tests/cli/verbs/fleet

fuzz: $(SETUP) ## Read 1,000,000 broken records, segments, directories (KOHORT_FUZZ_CASES); compact generated logs; send 1,000,000 broken requests (KOHORT_HOSTILE_FRAMES), and 2,000 hostile calls of an agent (KOHORT_AGENT_CASES); peek at records of 1 GB
	$(LONG) tests/assignors/test_sticky.py tests/wire/messages/test_record_codec_fuzz.py tests/wire/messages/test_streams_assignor.py \
		tests/wire/messages/test_connect_protocol.py \
		tests/wire/log/test_segments_fuzz.py tests/wire/log/test_index_check.py tests/wire/log/test_cut_batches.py \
		tests/wire/client/test_records_around.py tests/cli/verbs/peek \
		tests/coordinator/store/test_loader_fuzz.py tests/coordinator/store/test_loader_live.py tests/coordinator/store/test_compaction.py \
		tests/cli/sources/history/test_logs.py tests/cli/sources/history/test_live.py tests/cli/verbs/record/test_journal.py \
		tests/cli/verbs/migrate/test_report.py \
		tests/coordinator/server/test_hostile_clients.py tests/coordinator/server/test_floods.py \
		tests/coordinator/server/security/test_sessions.py \
		tests/coordinator/store/test_data_directory_files.py tests/groups/test_snapshot.py tests/cli/verbs/apply tests/cli/journal \
		tests/conformance/test_compacted_logs.py \
		tests/coordinator/store/test_data_directory.py tests/coordinator/store/test_loader_replay.py \
		tests/coordinator/engine/test_classic_machine.py tests/coordinator/engine/test_consumer_stateful.py \
		tests/cli/sources/contexts/test_read.py tests/cli/dropin/test_hostile_files.py tests/assignors/test_topology.py tests/cli/verbs/mcp

kills: $(SETUP) ## Kill a process 500 times while it appends and compacts (KOHORT_KILL_ROUNDS), kohort record 100 times, and changes 120 times
	$(LONG) --capture no tests/coordinator/store/test_kills.py tests/coordinator/store/test_broker_reads_ours.py \
		tests/coordinator/store/test_start_on_segments.py \
		tests/coordinator/server/test_kept_transactions.py tests/cli/verbs/record tests/cli/changes/test_kills.py

tabs: $(SETUP) ## Test completion of unusual names in every quoting, in bash, zsh and fish
	$(LONG) tests/cli/verbs/completion/test_in_shells.py

simulations: $(SETUP) ## Play 2,000 seeds of the standard scenario, read unusual scenarios, explore the published world
	$(LONG) --numprocesses 2 --dist load tests/coordinator/simulation

changes: $(SETUP) ## Play every change with every signal, and with brokers that stall or die, at each request, on kohort serve and Kafka; compare both tools
	$(LONG) tests/cli/changes tests/cli/dropin

screens: $(SETUP) ## Press random keys on every screen of kohort top, and change a cluster from a browser
	$(LONG) tests/cli/verbs/top

bridges: $(SETUP) ## Convert 10 groups each of librdkafka and sarama with the bridge, killing it 20 times in each
	$(LONG) --capture no tests/migration/end_to_end/test_bridge.py tests/cli/verbs/bridge/test_bridge.py

applications: $(SETUP) ## Run applications of twelve clients on a real broker and on kohort serve, with the same checks; compare members and metrics
	KOHORT_APPLICATIONS_PAGE=1 $(LONG) --numprocesses $(JOBS) --dist load tests/coordinator/applications/test_applications.py \
		tests/coordinator/applications/test_connect.py tests/coordinator/applications/test_elections.py tests/conformance/test_clients.py \
		tests/cli/verbs/serve/test_metrics.py

served-kills: $(SETUP) ## Kill kohort serve 100 times while producers and consumers keep running (KOHORT_SERVED_KILLS)
	$(LONG) --capture no tests/coordinator/applications/test_served_kills.py

diagnoses: $(SETUP) ## Diagnose real clients that stall, restart and fence each other; sick and healthy kinds in 6, 10, 30 s (KOHORT_WRITE_GOLDEN=1 records)
	$(LONG) --capture no tests/cli/verbs/diagnose

incidents: $(SETUP) ## Do to real groups what makes them rebalance; compare kohort why, live, of a log and of a journal (KOHORT_WRITE_GOLDEN=1 records)
	$(LONG) --capture no tests/incidents tests/groups/history/test_verdicts.py

kerberos: $(SETUP) ## Install a missing KDC (Debian and derivatives), and test logins that need their own broker
	@command -v krb5kdc >/dev/null || test -x /usr/sbin/krb5kdc || \
		sh tests/support/install.sh Kerberos krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc
	$(BIN)/$(PIP) $(LOCKED) --requirement locks/kerberos.txt
	KOHORT_REQUIRE_KERBEROS=1 $(LONG) tests/cli/sources/test_own_listeners.py

packages: $(VENV)/.ready-release $(VENV)/.ready-docs ## Build the packages twice, compare and run them, as `make dist` does; build the site
	$(LONG) tests/shipping

outages: $(SETUP) ## Lose brokers and a log directory, mutilate every answer, and list 5,000 groups without one broker of three
	$(LONG) tests/cli/verbs/exporter tests/cli/sources/test_outage.py tests/cli/sources/test_many_groups.py \
		tests/cli/sources/test_failed_directory.py tests/cli/test_mutilated_answers.py

matrix: $(SETUP) ## Test Kohort with brokers from 3.5 to 4.4, and write the table of docs/brokers.md (RELEASES=4.3.1: some)
	$(BIN)/python -m tests.matrix $(RELEASES)
	KOHORT_KAFKA=4.3.1 $(BIN)/python -m pytest --numprocesses 0 tests/conformance/test_conformance.py tests/cli/dropin

##@ Benchmarks, measured side by side: figures in docs/benchmarks.md

bench: $(SETUP) ## Compare the speed of the command line with Kafka's own tool
	$(BIN)/python -m benchmarks.command_line

bench-assignors: $(SETUP) ## Compare the speed of Kohort's and Kafka's assignors on a million partitions
	$(BIN)/python -m benchmarks.assignors

bench-coordinator: $(SETUP) ## Time the engine of the embedded coordinator
	$(BIN)/python -m benchmarks.coordinator

bench-serving: $(SETUP) ## Time records, heartbeats, the start and 2,000 connections of `kohort serve`, compared with a real broker (HELD=600: for ten minutes)
	$(if $(HELD),,$(BIN)/python -m benchmarks.records)
	$(BIN)/python -m benchmarks.serving $(if $(HELD),held $(HELD))

bench-storage: $(SETUP) ## Time reading a log of 1.2 million commits, compared with a real broker and kafka-dump-log
	$(BIN)/python -m benchmarks.storage

bench-plans: $(SETUP) ## Time plans of 500 members on 5,000 partitions and checks of 100 regexes on 100,000 topics
	$(BIN)/python -m benchmarks.plans

bench-rehearsals: $(SETUP) ## Time rehearsals of groups of up to 100 members on 1,000 partitions
	$(BIN)/python -m benchmarks.rehearsals

bench-audit: $(SETUP) ## Time the audit of 20,000 groups on 40 clusters, on two cores
	$(BIN)/python -m benchmarks.audit

bench-pipeline: $(SETUP) ## Time the history of 40 million records, compared with kafka-dump-log, on one core and two
	$(BIN)/python -m benchmarks.pipeline

bench-fleet-simulation: $(SETUP) ## Play 100,000 seeds of the standard scenario on Spark, on one core and two (SEEDS=2000: fewer)
	$(BIN)/python -m benchmarks.fleet_simulation --seeds $(or $(SEEDS),100000)

bench-histories: $(SETUP) ## Time reading the past of a group from 10,000,000 records, from files and from a real broker
	$(BIN)/python -m benchmarks.histories

bench-recorder: $(SETUP) ## Time kohort record at 20,000 commits a second of 5,000 groups × 20 partitions, alone and of a real broker (MINUTES=60)
	$(BIN)/python -m benchmarks.recorder $(MINUTES)
	$(BIN)/python -m benchmarks.recorder_live $(MINUTES)

bench-exporter: $(SETUP) ## Time polls and scrapes of the exporter over 5,000 groups × 20 partitions (MINUTES=30: watch its memory)
	$(BIN)/python -m benchmarks.exporter $(MINUTES)

bench-clusters: $(SETUP) ## Time a list of 20 clusters, of which one is slow and two are dead
	$(BIN)/python -m benchmarks.clusters

bench-agents: $(SETUP) ## Time the start of kohort mcp until its first answer, the list of its tools, and a call
	$(BIN)/python -m benchmarks.agents

bench-scale: $(SETUP) ## Time every command on 100, 1,000 and 10,000 groups × 100 partitions of a broker, 50,000 of kohort serve, and draw the curves (SIZES=100,1000 SERVED= COMMANDS=list,describe BROKER= KEEP=1 ANCHOR=1 RESULTS=FILE)
	$(BIN)/python -m benchmarks.scale $(if $(SIZES),--sizes $(SIZES) --served "$(SERVED)") $(if $(COMMANDS),--commands $(COMMANDS)) \
		$(if $(BROKER),--broker $(BROKER)) $(if $(KEEP),--keep) $(if $(ANCHOR),--anchor) $(if $(RESULTS),--results $(RESULTS)) \
		$(if $(SIZES)$(COMMANDS),,--picture docs/scale.svg)

bench-top: $(SETUP) ## Time the screens of kohort top on 1,000 groups of a broker and 5,000 of a snapshot: first screen, keys, processor, memory
	$(BIN)/python -m benchmarks.top

##@ Documentation and recordings

pictures: $(SETUP) ## Write the pictures of a terminal for README.md and the docs (SCREENS=DIR: draw the golden screens)
	$(BIN)/python -m tests.docs.pictures $(SCREENS)
	$(BIN)/python -m tests.docs.architecture

site: $(VENV)/.ready-docs ## Build the documentation as a site into site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

man: $(SETUP) ## Write the man pages into man/ (man -l man/kohort.1)
	$(BIN)/python -m tests.shipping.man man

stories: $(SETUP) ## Record again how real consumers behave in the stories of the simulation (STORIES="crash pause": some)
	$(BIN)/python -m tests.kafka.stories $(STORIES)

##@ Releases

lock: $(VENV)/.ready-release ## Write locks/ (the hashes of all packages) for the versions in constraints.txt
	$(BIN)/python -m tests.shipping.locks

dist: $(VENV)/.ready-release ## Build and check sdist and wheel, and run the demo from each in a fresh environment
	$(BIN)/python -m tests.shipping.dist

image: ## Build the image kohort:VERSION of the Dockerfile (IMAGE_BUILD='buildah build --format docker')
	$(IMAGE_BUILD) --tag kohort:$$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml) .

release-notes: $(SETUP) ## Print a release's section of the changelog (VERSION=0.1.0)
	@$(BIN)/python -m tests.shipping.release_notes $(or $(VERSION),Unreleased)
