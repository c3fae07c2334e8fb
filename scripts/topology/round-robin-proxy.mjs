import { Agent, createServer, request as httpRequest } from 'node:http';

const PROBE_EVERY_MS = 250;
const PROBE_LIMIT_MS = 2000;
/** What belongs to one hop only. */
const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
];

/**
 * What stands before several gateways: each request goes to the next one that is ready, a
 * WebSocket stays on the one it was opened on. A gateway leaves the round when its
 * `/health/ready` or a connection to it fails, and comes back by itself. A request whose
 * gateway could not even be connected to goes to another; one that broke later is
 * answered 502, and the client decides.
 */
export class RoundRobinProxy {
  #targets;
  #at = 0;
  #probes;
  /** WebSockets: the server forgets them once they are upgraded. */
  #live = new Set();
  /**
   * A connection each: one that is kept may be closed by its gateway just when it
   * is used again.
   */
  #agent = new Agent({ keepAlive: false });
  #server = createServer((request, response) => this.#forward(request, response, this.#order()));

  /** @param targets base URLs of the gateways */
  constructor(targets) {
    this.#targets = targets.map(url => ({ url: new URL(url), ready: false }));
    this.#server.on('upgrade', (request, socket, head) => {
      this.#live.add(socket);
      socket.on('close', () => this.#live.delete(socket));
      socket.on('error', () => socket.destroy());
      this.#upgrade(request, socket, head, this.#order());
    });
    // Uploads and batches' answers take as long as they take.
    this.#server.requestTimeout = 0;
  }

  /** @returns the port */
  async listen(port, host) {
    await this.#probe();
    this.#probes = setInterval(() => void this.#probe(), PROBE_EVERY_MS);
    await new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    return this.#server.address().port;
  }

  get readyTargets() {
    return this.#targets.filter(({ ready }) => ready).map(({ url }) => url.origin);
  }

  /** No new connections; those that stand may end by themselves until `closeAll`. */
  async close() {
    clearInterval(this.#probes);
    const closed = new Promise(resolve => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    await closed;
    this.#agent.destroy();
  }

  closeAll() {
    this.#server.closeAllConnections();
    for (const socket of this.#live) socket.destroy();
  }

  /**
   * Ready ones first, each in its turn; the others after them, for a moment when none is
   * known to be ready.
   */
  #order() {
    this.#at = (this.#at + 1) % this.#targets.length;
    const turn = [...this.#targets.slice(this.#at), ...this.#targets.slice(0, this.#at)];
    return [...turn.filter(({ ready }) => ready), ...turn.filter(({ ready }) => !ready)];
  }

  #forward(request, response, [target, ...others]) {
    if (!target) return unavailable(response);
    const onward = this.#request(request, target);
    let connected = false;
    onward.on('socket', socket => {
      const begin = () => {
        connected = true;
        request.pipe(onward);
      };
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
    onward.on('response', answer => {
      // Draining, perhaps: the next probe decides.
      if (answer.statusCode === 503) target.ready = false;
      response.writeHead(answer.statusCode, answer.statusMessage, kept(answer.headers));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => {
      if (response.destroyed) return;
      target.ready = false;
      if (!connected) return this.#forward(request, response, others);
      if (response.headersSent) response.destroy();
      else badGateway(response);
    });
    // A caller who leaves is a cancel.
    response.on('close', () => onward.destroy());
  }

  #upgrade(request, socket, head, [target, ...others]) {
    if (!target) return socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
    const headers = {
      ...request.headers,
      connection: 'upgrade',
      upgrade: request.headers.upgrade,
    };
    const onward = this.#request(request, target, { headers, agent: false });
    onward.on('upgrade', (answer, gateway, first) => {
      socket.write(rawHead(answer));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) gateway.write(head);
      join(socket, gateway);
    });
    onward.on('response', answer => {
      socket.write(rawHead(answer));
      answer.pipe(socket);
    });
    onward.on('error', () => {
      target.ready = false;
      this.#upgrade(request, socket, head, others);
    });
    onward.end();
  }

  #request({ method, url, headers, socket }, target, options = {}) {
    const { hostname, port } = target.url;
    const from = {
      ...kept(headers),
      host: headers.host,
      'x-forwarded-for': socket.remoteAddress,
    };
    return httpRequest({
      hostname,
      port,
      method,
      path: url,
      headers: from,
      agent: this.#agent,
      ...options,
    });
  }

  async #probe() {
    await Promise.all(
      this.#targets.map(async target => (target.ready = await isReady(target.url))),
    );
  }
}

async function isReady(url) {
  try {
    const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
    const answer = await fetch(new URL('/health/ready', url), {
      signal,
      headers: { connection: 'close' },
    });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

const kept = headers =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !HOP_HEADERS.includes(name),
    ),
  );

function rawHead({ statusCode, statusMessage, rawHeaders }) {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function join(one, other) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ]) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

const error = (message, code) =>
  JSON.stringify({ error: { message, type: 'server_error', param: null, code } });

function unavailable(response) {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(error('No gateway is ready.', 'no_gateway'));
}

function badGateway(response) {
  response.writeHead(502, { 'content-type': 'application/json', connection: 'close' });
  response.end(error('The gateway died with this request; send it again.', 'gateway_lost'));
}
