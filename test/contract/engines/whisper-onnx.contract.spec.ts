import { endlessRhythm, rhythm, whisperEngine } from '../../support/whisper-model.js';
import { pcm } from './engine-items.js';
import { describeSpeechRecognizer } from './recognizer-contract.js';

describeSpeechRecognizer(
  'whisper-onnx',
  () =>
    Promise.resolve({
      engine: whisperEngine(),
      first: pcm(rhythm(3, 7)),
      second: pcm(rhythm(1.5, 20)),
      empty: pcm(new Int16Array(0)),
      endless: pcm(endlessRhythm(5)),
      failing: [pcm(rhythm(1, 3)), { language: 'xx' }],
    }),
  { streams: false },
);
