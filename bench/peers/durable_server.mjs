// Starts @durable-streams/server on a port, its streams kept in files: what server_bench measures
// with --peer.
//
//   node durable_server.mjs PORT DIRECTORY
import { DurableStreamTestServer } from '@durable-streams/server';

const [port, directory] = process.argv.slice(2);
const server = new DurableStreamTestServer({ port: Number(port), host: '127.0.0.1', dataDir: directory });
await server.start();
process.on('SIGTERM', () => process.exit(0));
