import { writeFile } from 'node:fs/promises';
import { consoleClient } from './console/client-types.js';

await writeFile('console/src/api/schema.ts', await consoleClient());
