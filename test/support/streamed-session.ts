import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { type ServerEvent } from '../../src/contracts/realtime/realtime-event.js';
import { type DomainError } from '../../src/core/errors/domain-error.js';
import { RecogniserStreams } from '../../src/gateway/realtime/session/recogniser-streams.js';
import { type Recognisers } from '../../src/gateway/realtime/session/recognisers.js';
import { type SessionCore } from '../../src/gateway/realtime/session/session-core.js';
import { ScriptedStream } from './scripted-stream.js';

type Entry = { kind: 'audio'; pcm: Buffer } | { kind: 'commit' | 'reopen' | 'end' };
/** Streams of one session; `seen` is what they hand over and what is asked of its recognition. */
export function streamedSession({ models = undefined as readonly string[] | undefined } = {}) {
  const due: Entry[] = [];
  const seen: unknown[][] = [];
  const opened: ScriptedStream[] = [];
  const ids: string[] = [];
  const state = {
    refusal: undefined as DomainError | undefined,
    slotComing: false,
    loads: true,
    awaited: undefined as { text: string; inMs: number } | undefined,
    model: 'stt',
    tries: 0,
  };
  const demandTranscriber = () => {
    state.tries += 1;
    return { id: state.model };
  };
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void seen.push([name, ...given]);
  const recognition = {
    next: () => due.shift(),
    end: () => due.push({ kind: 'end' }),
    heard: (heard: StreamEvent, closing: boolean) => seen.push(['heard', heard.type, closing]),
    ...Object.fromEntries(
      ['rewind', 'opened', 'closed', 'lost', 'giveUp', 'recovered'].map(name => [name, note(name)]),
    ),
  };
  const streams = new RecogniserStreams(
    { recognition, config: {}, demandTranscriber } as unknown as SessionCore,
    {
      id: 'sess_1',
      owner: { tenant: 't', scopes: new Set(), terms: models && { key: 'k', models } },
      send: ({ warning }: ServerEvent) => seen.push(['send', warning]),
    },
    {
      recognisers: {
        open: (id: string) => {
          if (state.refusal) throw state.refusal;
          ids.push(id);
          opened.push(new ScriptedStream());
          return opened.at(-1)!;
        },
        loads: () => state.loads,
        awaited: () => state.awaited,
      } as unknown as Recognisers,
      recoveryMs: 750,
      slotComing: () => state.slotComing,
      run: act => act(),
    },
  );
  const happened = () => seen.splice(0);
  return { streams, due, opened, ids, state, happened };
}
