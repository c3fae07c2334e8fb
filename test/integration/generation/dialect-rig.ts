import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { llamaLlm, syntheticEmbedding, upstreamLlm } from './generation-rig.js';

/** Of a stream of chat. */
export const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;

/** A gateway with models for specs of a dialect, and the server behind one of them. */
export class DialectRig implements AsyncDisposable {
  private constructor(
    readonly rig: GatewayRig,
    readonly upstream: OpenAiUpstream,
  ) {}

  /** `llama` calls tools, `upstream-llm` says what was scripted. */
  static async start(): Promise<DialectRig> {
    const upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
    const llama = await llamaLlm(['chat', 'completions', 'tools', 'logprobs']);
    const rig = await GatewayRig.start({
      models: [llama, upstreamLlm(upstream), syntheticEmbedding()],
      launch: 'hosted',
    });
    return new DialectRig(rig, upstream);
  }

  /** `upstream-llm` with these capabilities: its server has a route of its own. */
  static async native(
    capabilities: ModelSpec['capabilities'],
    ...others: readonly ModelSpec[]
  ): Promise<DialectRig> {
    const upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
    const models = [{ ...upstreamLlm(upstream), capabilities }, ...others];
    const rig = await GatewayRig.start({ models, launch: 'hosted' });
    return new DialectRig(rig, upstream);
  }

  /** The next answer of the server: these frames, then `[DONE]`. */
  readonly script = (...frames: readonly string[]): void => {
    const body = [...frames, 'data: [DONE]\n\n'].join('');
    this.upstream.script({ kind: 'body', type: 'text/event-stream', body });
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig.close();
    await this.upstream[Symbol.asyncDispose]();
  }
}
