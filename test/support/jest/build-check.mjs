import { isBuilt } from '../../../scripts/setup/build.mjs';
import { warn } from '../../../scripts/setup/report.mjs';

/** Once per run: specs that start programs start what is in `dist/`. */
export default function warnOfOldBuild() {
  if (!isBuilt()) warn('dist/ is not made of these sources; specs of programs need: npm run build');
}
