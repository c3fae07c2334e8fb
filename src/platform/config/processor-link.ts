/**
 * Messages of a gateway to the batch processor that it started, over Node's IPC
 * channel. Where lines go and with which secret stands in the child's
 * environment (`ProcessorLink`).
 */
export type GatewayMessage =
  /** A batch was created or cancelled: look now and not at the next poll. */
  | { readonly type: 'wake' }
  /** A scrape: send the metrics. */
  | { readonly type: 'metrics' };

/** Messages of a processor to the gateway that started it. */
export type ProcessorMessage =
  /** It claims jobs. */
  | { readonly type: 'ready' }
  /** It cannot start; the message says why. */
  | { readonly type: 'failed'; readonly message: string }
  /** Answer to `metrics`: the exposition text of the processor's own metrics. */
  | { readonly type: 'metrics'; readonly text: string };

/**
 * Flags of Node for a batch processor. A batch makes much garbage and keeps next to
 * nothing: with V8's own measures the old generation grows by 150 MiB before a collection
 * (test/bench/README.md "Reading `batch-ingest`").
 */
export const PROCESSOR_NODE_FLAGS = [
  '--max-semi-space-size=16',
  '--initial-old-space-size=48',
] as const;

/**
 * Carries the link from a gateway to the processor that it starts; the secret never
 * touches a disk or a command line.
 */
export const PROCESSOR_LINK_VARIABLE = 'SWITCHYARD_PROCESSOR_LINK';

/**
 * What a gateway passes to the batch processor that it starts. A processor that was
 * started by hand has none.
 */
export interface ProcessorLink {
  /** `http://127.0.0.1:8000`, the port really taken. */
  readonly gatewayUrl: string;
  /**
   * Signs the tokens that lines are sent with; absent while no keys are
   * asked for. Base64.
   */
  readonly tokenSecret?: string;
}

/**
 * Everything that the gateway was started with, so that both read the same settings; a
 * debugger's port cannot be shared.
 */
export function processorEnvironment(link: ProcessorLink): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _own, ...shared } = process.env;
  return { ...shared, [PROCESSOR_LINK_VARIABLE]: JSON.stringify(link) };
}

/**
 * Undefined without a gateway as parent. The variable is forgotten, so that nothing
 * started later inherits it.
 */
export function takeProcessorLink(): ProcessorLink | undefined {
  const text = process.env[PROCESSOR_LINK_VARIABLE];
  delete process.env[PROCESSOR_LINK_VARIABLE];
  return text === undefined ? undefined : (JSON.parse(text) as ProcessorLink);
}
