import { type TargetCall } from './target-server.js';

/** One span as OTLP/HTTP sends it in JSON. */
export interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { stringValue?: string; intValue?: number };
  }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** What a collector has received. */
export const spansIn = (calls: readonly TargetCall[]): OtlpSpan[] =>
  calls.flatMap(({ body }) =>
    (JSON.parse(body.toString()) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans),
    ),
  );
