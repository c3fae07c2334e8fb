import { createServer } from 'node:net';

/**
 * So many different ports of loopback that were free a moment ago: members keep theirs
 * when they are started again.
 */
export async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map(server => server.address().port);
  await Promise.all(servers.map(server => new Promise(closed => server.close(closed))));
  return ports;
}

function listening() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
