import { EventEmitter } from 'node:events';
import { defaultSession } from '../../src/contracts/realtime/session-config.js';
import { type Dialect } from '../../src/contracts/realtime/session-view.js';
import { type SessionServices } from '../../src/gateway/realtime/session/session-services.js';
import { type ClientSocket } from '../../src/gateway/websockets/client-socket.js';
import { type Principal } from '../../src/platform/auth/principal.js';
import { type SettingPath, settingsFrom } from '../../src/platform/config/settings.js';
import { ScriptedStream } from './scripted-stream.js';

export const ownerOf = (tenant: string, more: Partial<Principal> = {}): Principal => ({
  ...{ tenant, scopes: new Set(['inference'] as const) },
  ...more,
});

/** A session with manual turns as `RealtimeSessions.create` takes it. */
export const wanted = (owner: Principal, model = 'stt') => ({
  config: { ...defaultSession(model), turnDetection: null },
  dialect: 'ga' as Dialect,
  owner,
});

/** One event as a client gets it, or a call at its socket. */
export type Seen = Readonly<Record<string, unknown>>;

/** The socket of a client: what it was sent, and what it says. */
export function scriptedClient() {
  const seen: Seen[] = [];
  let listener!: Parameters<ClientSocket['listen']>[0];
  const socket = {
    open: true,
    overfull: false,
    drained: () => Promise.resolve(),
    listen: (to: typeof listener) => (listener = to),
    send: (json: string) => seen.push(JSON.parse(json) as Seen),
    close: (...closed: unknown[]) => seen.push({ closed }),
    pauseFor: (ms: number) => seen.push({ pausedMs: ms }),
    pause: () => seen.push({ paused: true }),
    resume: () => seen.push({ paused: false }),
  };
  return {
    socket: socket as unknown as ClientSocket,
    seen,
    /** Types of the events since the last call; codes of warnings; `closed`. */
    types: () =>
      seen.splice(0).map(({ type, warning, closed }) => {
        if (closed) return `closed ${(closed as unknown[]).join(' ')}`;
        return (warning as { code: string } | undefined)?.code ?? type;
      }),
    text: (type: string, fields: object = {}) => listener.text(JSON.stringify({ type, ...fields })),
    binary: (data: Buffer) => listener.binary(data),
    gone: (closed: boolean) => listener.gone(closed),
  };
}

/** What sessions use, with recognisers whose streams the test directs. */
export function liveServices(values: Partial<Record<SettingPath, number>> = {}) {
  const opened: ScriptedStream[] = [];
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void calls.push([name, ...given]);
  const state = {
    refusal: undefined as Error | undefined,
    hasStreams: true,
    speech: () => ({
      audio: new EventEmitter(),
      request: { cancel: note('cancel'), settled: new Promise(() => undefined) },
    }),
  };
  const services = {
    settings: settingsFrom(values),
    catalog: {
      usableBy() {
        return this;
      },
      getOfKind: (id: string) => ({ id, capabilities: ['stream'], languages: [] }),
      get: (id: string) => ({ id, languages: [] }),
    },
    activity: { count: note('count'), recognised: note('recognised') },
    modelOf: ({ model }: { readonly model: string }) => model,
    written: (spoken: string) => spoken,
    speak: (...given: unknown[]) => {
      calls.push(['speak', ...given]);
      return state.speech();
    },
    recognisers: {
      streams: () => state.hasStreams,
      loads: () => true,
      awaited: () => undefined,
      open: () => {
        if (state.refusal) throw state.refusal;
        opened.push(new ScriptedStream());
        return opened.at(-1)!;
      },
    },
  };
  return { services: services as unknown as SessionServices, opened, calls, state };
}

/** 100 ms at 24 kHz. */
export const FRAME = Buffer.alloc(4800);

/** What a client needs to resume the session. */
export const resumeOf = (created: Seen | undefined): { readonly secret: string } =>
  (created?.session as { readonly resume: { readonly secret: string } }).resume;

/** All that is due has been done. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}
