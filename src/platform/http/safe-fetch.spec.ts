import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../core/errors/domain-error.js';
import { HostExceptions } from './host-exceptions.js';
import { type FetchRules, SafeFetch, fetchTarget, lookupIn } from './safe-fetch.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const LIMIT = 1000;
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
/** Of a body of which less is sent. */
const HALF = { 'content-length': 500 };
const NEVER = new AbortController().signal;

let server: Server;
let port: number;
let requests: IncomingMessage[];
const routes = new Map<string, Handler>();

beforeEach(async () => {
  requests = [];
  routes.clear();
  server = createServer((request, response) => {
    requests.push(request);
    routes.get(request.url ?? '')?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** `audio.test` is trusted on the server's port; other names are not trusted. */
const rules = (change: Partial<FetchRules> = {}): FetchRules => ({
  timeoutMs: 20_000,
  maxBytes: LIMIT,
  allowHosts: `audio.test:${port}`,
  ...change,
});
const resolveAll = () => Promise.resolve(LOOPBACK);
const url = (path: string) => `http://audio.test:${port}${path}`;

const get = (path: string, change: Partial<FetchRules> = {}, signal = NEVER) =>
  new SafeFetch(rules(change), resolveAll).bytes(new URL(path, url('/')).href, signal);

/** Rejects so, for the field that named the URL. @returns the message */
async function fails(work: Promise<unknown>, code: string, reason = '') {
  const error = (await work.catch((thrown: unknown) => thrown)) as DomainError;
  expect(error).toMatchObject({ code, param: 'file_url' });
  expect(error.message).toContain(reason);
  return error.message;
}

/** The beginning of a body that has no length. */
const drip = (socket: ServerResponse['socket'], sent?: () => void) =>
  void socket?.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nRIFF', sent);

const redirect =
  (location: string, status = 302): Handler =>
  (_, response) =>
    response.writeHead(status, { location }).end();

describe('a download', () => {
  it('is the body, asked for with no cookies, authorisation or referrer', async () => {
    routes.set('/a.wav?sig=1', (_, response) =>
      response.setHeader('set-cookie', 'a=1').end('RIFF'),
    );
    expect((await get('/a.wav?sig=1')).toString()).toBe('RIFF');
    expect(Object.keys(requests[0]!.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(requests[0]!.headers).toMatchObject({ host: `audio.test:${port}`, connection: 'close' });
  });

  it('takes a body of exactly the limit', async () => {
    routes.set('/full', (_, response) => response.end(Buffer.alloc(LIMIT)));
    expect(await get('/full')).toHaveLength(LIMIT);
  });

  it('is stopped at the first byte over the limit when it comes in chunks', async () => {
    let closed: Promise<unknown> | undefined;
    routes.set('/chunks', (_, response) => {
      closed = once(response, 'close');
      const more = () => void (response.write(Buffer.alloc(400)) && setImmediate(more));
      response.on('drain', more).on('close', () => response.removeAllListeners('drain'));
      more();
    });
    await fails(get('/chunks'), 'file_too_large');
    await closed;
  });

  it('is not begun when the declared length is over the limit', async () => {
    let closed: Promise<unknown> | undefined;
    routes.set('/long', (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-length': LIMIT + 1 }).flushHeaders();
    });
    await fails(get('/long'), 'file_too_large');
    await closed;
  });

  it.each([
    ['text/html', { 'content-type': 'text/html; charset=utf-8' }, 'a web page'],
    ['xhtml', { 'content-type': ' Application/XHTML+xml' }, 'a web page'],
    ['compressed', { 'content-encoding': 'gzip' }, 'compressed'],
  ])('of %s is refused', async (_, headers, reason) => {
    routes.set('/odd', (_request, response) => response.writeHead(200, headers).end('x'));
    await fails(get('/odd'), 'file_url_refused', reason);
  });

  it.each([204, 206, 304, 404, 500])('answered %i names the status', async status => {
    routes.set('/status', (_, response) => response.writeHead(status).end());
    const message = `\`file_url\` cannot be fetched: its server answered ${status}.`;
    await fails(get('/status'), 'file_url_unreachable', message);
  });

  it('of 0 bytes is empty_file', async () => {
    routes.set('/empty', (_, response) => response.end());
    await fails(get('/empty'), 'empty_file');
  });

  it.each<[string, Handler]>([
    [
      'cut in the middle',
      (_, response) => void response.writeHead(200, HALF).write('RIFF', () => response.destroy()),
    ],
    [
      'without a length that is reset',
      (_, { socket }) => drip(socket, () => socket?.resetAndDestroy()),
    ],
  ])('%s is unreachable, not a short file', async (_, handler) => {
    routes.set('/short', handler);
    await fails(get('/short'), 'file_url_unreachable');
  });

  it('without a length that its server ends is whole', async () => {
    routes.set('/end', (_, { socket }) =>
      socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nRIFF'),
    );
    expect((await get('/end')).toString()).toBe('RIFF');
  });

  it('over https goes to the checked address too, and trusts no server without a certificate', async () => {
    const connected = once(server, 'connection');
    await fails(get(`https://audio.test:${port}/`), 'file_url_unreachable');
    await connected;
  });

  it('from a closed port names the error', async () => {
    const nobody = createTcpServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port: free } = nobody.address() as AddressInfo;
    nobody.close();
    await once(nobody, 'close');
    const work = get(`http://audio.test:${free}/`, { allowHosts: `audio.test:${free}` });
    await fails(work, 'file_url_unreachable', '`file_url` cannot be fetched: ECONNREFUSED.');
  });
});

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('are followed: %i', async status => {
    routes.set('/from', redirect('/to?x=1', status));
    routes.set('/to?x=1', (_, response) => response.end('RIFF'));
    expect((await get('/from')).toString()).toBe('RIFF');
  });

  it('are followed without their bodies: the connection is closed', async () => {
    let closed: Promise<unknown> | undefined;
    routes.set('/from', (_, response) => {
      closed = once(response, 'close');
      response.writeHead(302, { location: '/to', ...HALF }).flushHeaders();
    });
    routes.set('/to', (_, response) => response.end('RIFF'));
    expect((await get('/from')).toString()).toBe('RIFF');
    await closed;
  });

  it('are followed 5 times and not 6', async () => {
    for (let hop = 0; hop < 6; hop += 1) routes.set(`/${hop}`, redirect(`/${hop + 1}`));
    routes.set('/6', (_, response) => response.end('RIFF'));
    expect((await get('/1')).toString()).toBe('RIFF');
    await fails(get('/0'), 'file_url_refused');
  });

  it('in a loop end after 6 requests', async () => {
    routes.set('/loop', redirect('/loop'));
    await fails(get('/loop'), 'file_url_refused', 'redirects more than 5 times');
    expect(requests).toHaveLength(6);
  });

  it.each([
    ['loopback', 'http://127.0.0.1/', 'public Internet'],
    ['metadata', 'http://169.254.169.254/latest/meta-data/', 'public Internet'],
    ['a private name', 'http://other.test/', 'public Internet'],
    ['a decimal spelling of loopback', 'http://2130706433/', 'public Internet'],
    ['an octal spelling', 'http://0177.0.0.1/', 'public Internet'],
    ['IPv6 loopback', 'http://[::1]/', 'public Internet'],
    ['mapped loopback', 'http://[::ffff:127.0.0.1]/', 'public Internet'],
    ['another port', 'http://1.1.1.1:22/', 'port 22'],
    ['a file', 'file:///etc/passwd', 'not http'],
    ['credentials', 'http://me:secret@1.1.1.1/', 'credentials'],
    ['a user', 'http://me@1.1.1.1/', 'credentials'],
    ['a password', 'http://:secret@1.1.1.1/', 'credentials'],
    ['nonsense', 'http://', 'no URL'],
  ])('to %s are refused', async (_, location, reason) => {
    routes.set('/from', redirect(location));
    const message = await fails(get('/from'), 'file_url_refused', reason);
    expect(message).not.toMatch(/127\.0|169\.254|secret/);
    expect(requests).toHaveLength(1);
  });
});

describe('a name that changes its mind (DNS rebinding)', () => {
  it('is asked once: the connection goes to the address that was checked', async () => {
    const answers = [LOOPBACK, [{ address: '192.0.2.1', family: 4 }]];
    let asked = 0;
    routes.set('/a', (_, response) => response.end('RIFF'));
    const fetch = new SafeFetch(rules(), () => Promise.resolve(answers[Math.min(asked++, 1)]!));
    expect((await fetch.bytes(url('/a'), NEVER)).toString()).toBe('RIFF');
    expect(asked).toBe(1);
  });

  it('is checked again at a redirect: public first, then loopback', async () => {
    // 127.0.0.1 plays the public server, 127.0.0.2 this machine.
    const names: string[] = [];
    const resolve = (name: string) => {
      names.push(name);
      return Promise.resolve(names.length === 1 ? LOOPBACK : [{ address: '127.0.0.2', family: 4 }]);
    };
    routes.set('/a', redirect('http://rebind.test/'));
    const fetch = new SafeFetch(rules({ allowHosts: `audio.test:${port},127.0.0.1/32` }), resolve);
    await fails(fetch.bytes(url('/a'), NEVER), 'file_url_refused');
    expect(names).toEqual(['audio.test', 'rebind.test']);
  });

  it('keeps the public ones of its addresses only', async () => {
    const addresses = ['10.0.0.1', '1.1.1.1', '::1', '2606:4700::1'].map(address => ({
      address,
      family: isIP(address),
    }));
    const exceptions = new HostExceptions('');
    const target = await fetchTarget(new URL('https://mixed.test/'), exceptions, () =>
      Promise.resolve(addresses),
    );
    expect(target.addresses.map(({ address }) => address)).toEqual(['1.1.1.1', '2606:4700::1']);
  });

  it.each([
    ['http://inner.test/', 'inner.test:80', 1],
    ['https://inner.test/', 'inner.test:443', 1],
    ['http://inner.test/', 'inner.test:443', 0],
  ])('%s is trusted by %s: %d addresses', async (address, allowed, count) => {
    const target = fetchTarget(new URL(address), new HostExceptions(allowed), resolveAll);
    if (count > 0) expect((await target).addresses).toEqual(LOOPBACK);
    else await fails(target, 'file_url_refused', 'public Internet');
  });

  it('is looked up among its checked addresses, all of them or the first', () => {
    const addresses = [...LOOPBACK, { address: '::1', family: 6 }];
    const found: unknown[] = [];
    const lookup = lookupIn(addresses);
    lookup('any.test', { all: true }, (...answer) => void found.push(answer));
    lookup('any.test', {}, (...answer) => void found.push(answer));
    expect(found).toEqual([
      [null, addresses],
      [null, '127.0.0.1', 4],
    ]);
  });

  it('has to have an address', async () => {
    const none = new SafeFetch(rules(), () => Promise.resolve([]));
    await fails(none.bytes(url('/a'), NEVER), 'file_url_unreachable', 'has no address');
    const unknown = new SafeFetch(rules(), () => Promise.reject(new Error('ENOTFOUND')));
    await fails(unknown.bytes(url('/a'), NEVER), 'file_url_unreachable', 'cannot be resolved');
  });
});

describe('the time limit', () => {
  const SHORT = { timeoutMs: 30 };

  it('ends a name that is never resolved', async () => {
    const fetch = new SafeFetch(rules(SHORT), () => new Promise(() => undefined));
    await fails(fetch.bytes(url('/'), NEVER), 'file_url_unreachable', 'it took longer than 30 ms');
  });

  it('ends headers that never come', async () => {
    routes.set('/silent', () => undefined);
    await fails(get('/silent', SHORT), 'file_url_unreachable');
  });

  it('ends a body that stops, and closes the connection', async () => {
    let closed: Promise<unknown> | undefined;
    routes.set('/stuck', (_, response) => {
      closed = once(response, 'close');
      response.write('RIFF');
    });
    await fails(
      get('/stuck', { timeoutMs: 200 }),
      'file_url_unreachable',
      'it took longer than 200 ms',
    );
    await closed;
  });

  it('of a body without a length is an error, not the end of a short file', async () => {
    routes.set('/drip', (_, { socket }) => drip(socket));
    const work = get('/drip', { timeoutMs: 200 });
    await fails(work, 'file_url_unreachable', 'it took longer than 200 ms');
  });
});

describe('an abort', () => {
  it('while a body without a length comes gives its own reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled by its caller');
    routes.set('/drip', (_, { socket }) => drip(socket, () => controller.abort(reason)));
    await expect(get('/drip', {}, controller.signal)).rejects.toBe(reason);
  });

  it('closes the connection while the body comes, and gives its own reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled by its caller');
    const closed = new Promise(resolve => {
      routes.set('/stuck', (_, response) => {
        response.on('close', resolve).write('RIFF', () => controller.abort(reason));
      });
    });
    await expect(get('/stuck', {}, controller.signal)).rejects.toBe(reason);
    await closed;
  });

  it('while the name is resolved sends no request', async () => {
    const controller = new AbortController();
    const fetch = new SafeFetch(rules(), () => {
      controller.abort(new Error('gone'));
      return resolveAll();
    });
    await expect(fetch.bytes(url('/'), controller.signal)).rejects.toThrow('gone');
    expect(requests).toHaveLength(0);
  });
});
