import { describe, expect, it } from '@jest/globals';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { contextAfter, traceparentOf } from './tracing.module.js';

const KNOWN = `00-${'4b'.repeat(16)}-${'f0'.repeat(8)}-01`;

describe('traceparent', () => {
  it('is written as it was read', () => {
    expect(traceparentOf(trace.getSpanContext(contextAfter(KNOWN))!)).toBe(KNOWN);
  });

  it.each([
    undefined,
    '',
    'x',
    KNOWN.toUpperCase(),
    `01${KNOWN.slice(2)}`,
    `00-${'0'.repeat(32)}-${'f0'.repeat(8)}-01`,
  ])('is the beginning of a trace of its own when it is %j', text => {
    expect(contextAfter(text)).toBe(ROOT_CONTEXT);
  });

  it('is nothing while nothing is traced', () => {
    const span = trace.getTracer('none').startSpan('a', {}, ROOT_CONTEXT);
    expect(traceparentOf(span.spanContext())).toBeUndefined();
  });

  it("is the caller's while only the caller traces", () => {
    const span = trace.getTracer('none').startSpan('a', {}, contextAfter(KNOWN));
    expect(traceparentOf(span.spanContext())).toBe(KNOWN);
  });
});
