// The protocol's own tests, against the server that run.sh has started. Subscriptions are optional in
// the protocol and not offered.
import { runConformanceTests } from "@durable-streams/server-conformance-tests";

runConformanceTests({
  baseUrl: process.env.HOLDFAST_URL,
  longPollTimeoutMs: Number(process.env.HOLDFAST_LONG_POLL_MS),
  subscriptions: false,
});
