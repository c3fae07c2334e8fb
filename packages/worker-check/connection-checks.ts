import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { decodeHealth, NOT_SERVING } from '@switchyard/worker-protocol/health.codec.js';
import { type Check, type CheckContext, checkedAnswer, demand, endOf, notJudged } from './check.js';

/** gRPC's C core forgives two, and ends the connection at the next one. */
const PINGS = 4;

/** Whether idle connections stay open, and how they end. */
export const CONNECTION_CHECKS: readonly Check[] = [
  {
    name: 'pings',
    anchor: '9-connections-tokens-tls',
    about: 'pings as those of a gateway',
    /** Pings on a connection of its own without calls. */
    async run({ options: { address, remote, pingEveryMs = 10_000 } }) {
      const { tls } = remote;
      const url = `${tls ? 'https' : 'http'}://${address}`;
      const session = connect(url, tls?.caFile ? { ca: readFileSync(tls.caFile) } : {});
      let ended: string | undefined;
      session.on(
        'goaway',
        (code: number, _: number, data?: Buffer) =>
          (ended ??= `GOAWAY ${code} ${data?.toString() ?? ''}`.trim()),
      );
      session.on('error', ({ message }: Error) => (ended ??= message));
      session.on('close', () => (ended ??= 'closed'));
      try {
        for (let ping = 0; ping < PINGS && ended === undefined; ping += 1) {
          await pause(pingEveryMs);
          if (!session.destroyed) session.ping(() => undefined);
        }
        await pause(Math.min(pingEveryMs, 500));
        demand(
          ended === undefined,
          `an idle connection pinged every ${pingEveryMs / 1000} s was ended: ${ended}`,
        );
        return `${PINGS} pings, one each ${pingEveryMs / 1000} s`;
      } finally {
        session.destroy();
      }
    },
  },
  {
    name: 'drain',
    anchor: '10-drain',
    about: 'SIGTERM loses no request',
    needs: 'cancel',
    /** SIGTERM while a request runs. It ends the worker, so this is the last check. */
    async run(context) {
      const { client, samples, options } = context;
      const { pid } = options;
      if (pid === undefined) throw notJudged('it begins with SIGTERM: --pid names the process');
      const running = client.start(samples.lasting);
      await pause(300);
      process.kill(pid, 'SIGTERM');
      await saysDraining(context);
      const refused = await endOf(
        client.start(samples.plain(0)),
        'a request to a draining worker',
        'fail',
      );
      demand(
        refused.trailers.code === 'shutting_down',
        `a request to a draining worker ended with ${refused.text}, not with shutting_down`,
      );
      running.complete();
      await checkedAnswer(running, 'the request that ran at SIGTERM', 'fail');
      for (const untilMs = performance.now() + 10_000; isAlive(pid); await pause(100)) {
        demand(performance.now() < untilMs, 'its process still runs 10 s after its last request');
        await client.health(context.kind);
      }
      return 'the running request was answered, the next one refused, and the process ended';
    },
  },
];

/** @throws Verdict unless both health services report it within 5 s */
async function saysDraining({ client, kind }: CheckContext) {
  for (const untilMs = performance.now() + 5000; ; await pause(50)) {
    const [check, own] = await Promise.all([client.check(), client.health(kind)]);
    const gone = [check, own].find(({ code }) => code !== status.OK);
    demand(
      gone === undefined,
      `while a request ran after SIGTERM, a probe failed with ${gone?.text}`,
    );
    if (
      check.messages[0]?.status === NOT_SERVING &&
      own.messages.map(decodeHealth)[0]?.state === 'draining'
    )
      return;
    demand(
      performance.now() < untilMs,
      'Check does not answer NOT_SERVING, with STATE_DRAINING, 5 s after SIGTERM',
    );
  }
}
