import { createServer, type Socket } from 'node:net';

/**
 * An OpenAI-compatible server that computes nothing, on raw sockets, so that it costs
 * little beside what it serves.
 */
const CHUNKS = 20;
const HEAD_END = '\r\n\r\n';

const base = { id: 'chatcmpl-1', created: 1, model: 'bench' };
const json = (status: string, value: object): Buffer => {
  const body = JSON.stringify(value);
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`${head}${HEAD_END}${body}`);
};

const WHOLE = json('200 OK', {
  ...base,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
});
const MODELS = json('200 OK', {
  object: 'list',
  data: [{ id: 'bench', object: 'model', created: 1 }],
});
const STREAM_HEAD = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked${HEAD_END}`;
const LAST = `e\r\ndata: [DONE]\n\n\r\n0${HEAD_END}`;

const chunk = (delta: object, reason: string | null): Buffer => {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  const event = `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices })}\n\n`;
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
};
/** One write each: as a server does that has one token after the other. */
const STREAM: readonly Buffer[] = Array.from({ length: CHUNKS }, (_, at) => {
  if (at === CHUNKS - 1) return Buffer.concat([chunk({}, 'stop'), Buffer.from(LAST)]);
  const piece = chunk(
    at === 0 ? { role: 'assistant', content: '' } : { content: ` word${at}` },
    null,
  );
  return at === 0 ? Buffer.concat([Buffer.from(STREAM_HEAD), piece]) : piece;
});

function stream(socket: Socket, at = 0): void {
  const piece = STREAM[at];
  if (piece === undefined || socket.destroyed) return;
  socket.write(piece);
  setImmediate(() => stream(socket, at + 1));
}

/**
 * How often each line of a batch was asked for; its number follows the mark
 * in its prompt.
 */
const asked: number[] = [];
const MARK = '"line ';

function count(request: string): void {
  const at = request.indexOf(MARK);
  if (at < 0) return;
  const line = parseInt(request.slice(at + MARK.length, at + MARK.length + 8), 10);
  asked[line] = (asked[line] ?? 0) + 1;
}

process.on('message', () => {
  const counts = asked.filter(times => times > 0);
  process.send?.({
    type: 'asked',
    lines: counts.length,
    again: counts.reduce((sum, times) => sum + times - 1, 0),
  });
});

function answer(socket: Socket, request: string): void {
  count(request);
  if (request.startsWith('GET')) socket.write(MODELS);
  else if (/"stream": ?true/.test(request)) stream(socket);
  else socket.write(WHOLE);
}

/** Length of the request that stands first; undefined while bytes are missing. */
function firstLength(bytes: string): number | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = bytes.slice(0, end);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const last = bytes.indexOf(`0${HEAD_END}`, end);
    return last < 0 ? undefined : last + 1 + HEAD_END.length;
  }
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const whole = end + HEAD_END.length + length;
  return bytes.length < whole ? undefined : whole;
}

const server = createServer({ noDelay: true }, socket => {
  let pending = '';
  socket.on('error', () => undefined);
  socket.on('data', data => {
    pending += data.toString('latin1');
    for (let length = firstLength(pending); length !== undefined; length = firstLength(pending)) {
      answer(socket, pending.slice(0, length));
      pending = pending.slice(length);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({
    type: 'listening',
    port: typeof address === 'object' ? address?.port : undefined,
  });
});
process.on('SIGTERM', () => process.exit(0));
