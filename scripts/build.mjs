import { ensureBuild } from './setup/build.mjs';
import { runMain } from './setup/report.mjs';

/** `npm run build`: the programs, in `dist/`. */
await runMain(ensureBuild);
