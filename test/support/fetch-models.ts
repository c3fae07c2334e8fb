import { fetchRealModels } from './real-models.js';

/** For the steps that need them. */
const { name, present } = await fetchRealModels();
if (!present) console.error(name);
