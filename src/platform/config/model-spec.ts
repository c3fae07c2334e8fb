/** One entry of `config/models.yaml`, validated. */
export interface ModelSpec {
  /** Canonical id: the `model` label of metrics, the key of queue lanes. */
  readonly id: string;
  readonly kind: 'stt' | 'tts';
  readonly engine: EngineName;
  /** Other names clients may use, such as OpenAI's `whisper-1`. */
  readonly aliases: readonly string[];
  /** What the model can do; decides 400s at the door, before a worker is up. */
  readonly capabilities: readonly string[];
  /** BCP-47 tags; empty: any. */
  readonly languages: readonly string[];
  /** Local worker processes the gateway supervises; 0 when only `addresses` serve it. */
  readonly replicas: number;
  /** host:port of workers run elsewhere. */
  readonly addresses: readonly string[];
  /** Inverse text normalisation for requests that do not say; for recognisers that write "twenty five" (default false). */
  readonly itn?: boolean;
  /** Client voice name → engine voice id (TTS). */
  readonly voices: Readonly<Record<string, string>>;
  /** Engine settings, checked by the engine. */
  readonly options: Readonly<Record<string, unknown>>;
}

export const ENGINE_NAMES = ['pocketsphinx', 'flite', 'openai-http', 'synthetic'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
