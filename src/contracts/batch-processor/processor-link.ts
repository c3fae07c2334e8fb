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
  /** Why it never will. */
  | { readonly type: 'failed'; readonly message: string }
  /** Answer to `metrics`: the exposition text of the processor's own metrics. */
  | { readonly type: 'metrics'; readonly text: string };
