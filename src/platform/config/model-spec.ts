import { MODEL_KINDS, type ModelKind } from '@switchyard/engine-api/engine.js';
import { type RemoteSpec } from '@switchyard/worker-protocol/channel-security.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';

export { MODEL_KINDS, type ModelKind, type RemoteSpec };

export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** One entry of `config/models.yaml`, validated. */
export interface ModelSpec {
  /** Canonical id: the `model` label of metrics, the name of its queue. */
  readonly id: string;
  readonly kind: ModelKind;
  readonly engine: EngineName;
  /** Other names clients may use, such as OpenAI's `whisper-1`. */
  readonly aliases: readonly string[];
  /** What the model can do; decides 400s before a worker is up. */
  readonly capabilities: readonly string[];
  /** BCP-47 tags; empty: any. */
  readonly languages: readonly string[];
  /**
   * Local worker processes the gateway supervises, or what sets each apart; 0 when only
   * `addresses` serve it.
   */
  readonly replicas: number | readonly ReplicaSpec[];
  /**
   * host:port of workers run elsewhere; a host name stands for all its address records,
   * as they come and go.
   */
  readonly addresses: readonly string[];
  /**
   * Engine `external`: program and arguments of a worker that the gateway runs, not by a
   * shell. `{port}`, `{host}`, `{model}` and `{device}` are filled in.
   */
  readonly command?: readonly string[];
  /** How the gateway connects to them (default: no TLS, no token). */
  readonly remote?: RemoteSpec;
  /**
   * `on_request`: the first request starts its workers and waits for them. Absent:
   * `always`, from boot on.
   */
  readonly autostart?: (typeof AUTOSTARTS)[number];
  /**
   * Seconds without any work after which its workers are stopped, until the next
   * request; absent: never.
   */
  readonly idleUnloadS?: number;
  /** Devices that its local workers may be on, together: one of these. Absent: none is shared. */
  readonly device?: readonly DeviceSpec[];
  /** Bytes that all its local workers need together; absent: measured at its first load. */
  readonly memory?: number;
  /** Loaded from boot on; never leaves its device. */
  readonly pin?: boolean;
  /** Loaded while there is room for it, before anybody asks. */
  readonly prewarm?: boolean;
  /** Seconds that it stays while it is in use; absent: five load times. */
  readonly minResidenceS?: number;
  /**
   * Its aliases go to the first model that is added; without any it is loaded on request
   * only (default: `isStandIn`).
   */
  readonly standIn?: boolean;
  /**
   * Of requests that state no priority, where their key states none
   * either (default batch).
   */
  readonly defaultPriority?: PriorityLabel;
  /**
   * Inverse text normalisation for requests that do not say; for recognisers that write
   * "twenty five" (default false).
   */
  readonly itn?: boolean;
  /**
   * `normalise`: one gain per file toward the usual loudness of speech, before the engine
   * hears it (default off).
   */
  readonly loudness?: 'off' | 'normalise';
  /** Client voice name → engine voice id (TTS). */
  readonly voices: Readonly<Record<string, string>>;
  /** Engine settings, checked by the engine. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Memory that models share: one entry of `devices:`. */
export interface DeviceSpec {
  readonly id: string;
  /** Bytes that models may use, and those kept from them. */
  readonly memory: number;
  readonly reserve: number;
  /** What engines call it, such as `cuda:1`. */
  readonly as?: string | undefined;
}

/** stream: live streams only. file: everything else. any: both. */
export type ReplicaRole = 'any' | 'stream' | 'file';

/** What sets one local worker apart from its siblings. */
export interface ReplicaSpec {
  /** What it is sent; absent: any. */
  readonly role?: ReplicaRole;
  /** CPU cores that its process runs on, as `taskset` takes them; absent: all. */
  readonly cores?: string;
  /** Handed to the engine as its option `device`, such as `cuda:1`. */
  readonly device?: string;
  /** Added to the environment of its process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** It serves until there is a better model: its aliases go to the first that comes. */
export const isStandIn = ({ engine, standIn }: Pick<ModelSpec, 'engine' | 'standIn'>): boolean =>
  standIn ?? engine === 'synthetic';

export const AUTOSTARTS = ['always', 'on_request'] as const;

/** One entry per local worker, however `replicas` was written. */
export const replicaSpecs = ({ replicas }: Pick<ModelSpec, 'replicas'>): readonly ReplicaSpec[] =>
  typeof replicas === 'number' ? Array.from({ length: replicas }, () => ({})) : replicas;

/** The model as one of its local workers computes it. */
export const modelOn = (model: ModelSpec, { device }: ReplicaSpec): ModelSpec =>
  device === undefined ? model : { ...model, options: { ...model.options, device } };

/** An alias that stands for every name it matches. */
export const isPattern = (alias: string): boolean => alias.includes('*');

export const ENGINE_NAMES = [
  'sherpa-onnx',
  'llama-cpp',
  'openai-http',
  'external',
  'synthetic',
] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
