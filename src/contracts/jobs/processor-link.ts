/** What a gateway tells the batch processor that it started, over Node's IPC channel. A processor alone hears none of it. */
export type GatewayMessage =
  | {
      /** Once, first. Until then a started processor does not know where its lines go. */
      readonly type: 'start';
      /** Over loopback, without a path: `http://127.0.0.1:8000`. */
      readonly gatewayUrl: string;
      /** In base64: signs the tokens that lines are sent with (`ProcessorTokens`). Never in the environment or on a disk. */
      readonly tokenSecret: string;
    }
  /** A batch was created or cancelled: look now and not at the next poll. */
  | { readonly type: 'wake' };

/** What the processor tells the gateway. */
export type ProcessorMessage =
  /** It claims jobs. */
  { readonly type: 'ready' } | { readonly type: 'failed'; readonly message: string };
