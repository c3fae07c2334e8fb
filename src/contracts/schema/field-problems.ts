export * from '@switchyard/engine-api/field-problems.js';
