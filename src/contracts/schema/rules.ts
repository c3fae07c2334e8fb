export * from '@switchyard/engine-api/rules.js';
