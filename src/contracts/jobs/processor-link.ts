/**
 * What a gateway tells the batch processor that it started, over Node's IPC channel, when a batch was created or cancelled: look
 * now and not at the next poll. Where lines go and with which secret stands in the child's environment (`ProcessorLink`).
 */
export type GatewayMessage = { readonly type: 'wake' };

/** What the processor tells the gateway: it claims jobs, or why it never will. */
export type ProcessorMessage = { readonly type: 'ready' } | { readonly type: 'failed'; readonly message: string };
