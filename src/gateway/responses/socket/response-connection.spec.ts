import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { until } from '../../../../test/support/waiting.js';
import { type ClientSocket } from '../../websockets/client-socket.js';
import { ResponseConnection } from './response-connection.js';

const MESSAGE = '{"type":"response.create","input":"x"}';

it('reads no more than 128 KiB ahead, in however many messages, until what has come is answered', async () => {
  let listener: Parameters<ClientSocket['listen']>[0] | undefined;
  let isPaused = false;
  const sent: (string | Buffer)[] = [];
  const socket: Partial<ClientSocket> = {
    listen: given => void (listener = given),
    pause: () => void (isPaused = true),
    resume: () => void (isPaused = false),
    send: text => void sent.push(text),
  };
  const answers: (() => void)[] = [];
  const host = {
    create: () =>
      new Promise<{ status: number; headers: object; body: Readable }>(resolve => {
        const body = Readable.from(['{"error":{}}']);
        answers.push(() => resolve({ status: 400, headers: {}, body }));
      }),
  };
  const given = [socket as ClientSocket, host as never, 60_000] as const;
  const connection = new ResponseConnection(...given);
  const come = (bytes: number) => {
    connection.received(bytes);
    listener?.text(MESSAGE);
  };
  come(100_000);
  await until(() => answers.length === 1);
  for (let small = 0; small < 2; small += 1) come(60_000);
  expect(isPaused).toBe(false);
  come(60_000);
  expect(isPaused).toBe(true);
  for (let ended = 1; ended <= 4; ended += 1) {
    await until(() => answers.length === ended);
    expect(isPaused).toBe(true);
    answers.at(-1)!();
  }
  await until(() => !isPaused);
  expect(sent).toHaveLength(4);
  listener?.gone(true);
});

it.each(['{}', '"text"', '{"type":"response.resume"}', '{"type":"response.create","input":[1}'])(
  'leaves the place that %s took as a large message, though no request begins',
  async message => {
    let listener: Parameters<ClientSocket['listen']>[0] | undefined;
    let places = 0;
    const sent: (string | Buffer)[] = [];
    const socket: Partial<ClientSocket> = {
      listen: given => void (listener = given),
      resume: () => undefined,
      send: text => void sent.push(text),
    };
    const host = { place: () => ((places += 1), () => void (places -= 1)) };
    const connection = new ResponseConnection(socket as ClientSocket, host as never, 60_000);
    connection.received(200_000);
    expect(places).toBe(1);
    listener?.text(message);
    await until(() => sent.length === 1);
    await until(() => places === 0);
    listener?.gone(true);
  },
);
