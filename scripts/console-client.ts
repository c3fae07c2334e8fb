import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { consoleClient } from './console/client-types.js';

await writeFile('console/src/api/schema.ts', await consoleClient(join(tmpdir(), 'switchyard-console-client')));
