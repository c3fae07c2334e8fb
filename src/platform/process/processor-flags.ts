/**
 * Flags of Node for a batch processor, whoever starts it. A batch makes much garbage and keeps next to nothing: with V8's own
 * measures the old generation grows by 150 MiB before anybody looks (test/bench/README.md "Reading `batch-ingest`").
 */
export const PROCESSOR_NODE_FLAGS = ['--max-semi-space-size=16', '--initial-old-space-size=48'] as const;
