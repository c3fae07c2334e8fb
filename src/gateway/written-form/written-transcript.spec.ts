import { describe, expect, it } from '@jest/globals';
import { formatSrt } from '../../contracts/formats/srt.js';
import { transcriptEvents } from '../../contracts/formats/transcript-events.js';
import { type Transcript } from '../../contracts/formats/transcript.js';
import { EnglishNormalizer } from './english/english-normalizer.js';
import { writtenTranscript } from './written-transcript.js';

const english = new EnglishNormalizer();
const rest = { tokens: [], temperature: 0, avgLogprob: 0, noSpeechProb: 0 };

function transcript(text: string, ...segments: readonly string[]): Transcript {
  const timed = segments.map((segment, id) => ({ id, start: id, end: id + 1, text: segment, ...rest }));
  return { text, language: 'en', durationS: segments.length, segments: timed, words: [] };
}
const written = (spoken: Transcript) => writtenTranscript(spoken, text => english.normalize(text));

describe('writtenTranscript', () => {
  it('writes text and segments alike, white space kept', () => {
    const { text, segments } = written(
      transcript('it was\n twenty five  and fifty percent', 'it was', ' twenty five', 'and fifty percent'),
    );
    expect(text).toBe('it was\n 25  and 50%');
    expect(segments.map(segment => segment.text)).toEqual(['it was', ' 25', 'and 50%']);
  });

  it('reads no number across a segment boundary: subtitles and text must agree', () => {
    const answer = written(transcript('twenty five', 'twenty', 'five'));
    expect(answer.text).toBe('20 five');
    expect(formatSrt(answer)).toBe(
      '1\n00:00:00,000 --> 00:00:01,000\n20\n\n2\n00:00:01,000 --> 00:00:02,000\nfive\n\n',
    );
  });

  it('streams deltas that add up to the written text', () => {
    const events = transcriptEvents(written(transcript('ten dollars ten percent', 'ten dollars', 'ten percent')));
    expect(events.map(event => ('delta' in event ? event.delta : event.text))).toEqual(['$10', ' 10%', '$10 10%']);
  });

  it.each([
    ['without segments', transcript('twenty five')],
    ['that holds more than its segments', transcript('twenty five and ten', 'and')],
    ['whose segments differ from it', transcript('twenty five and ten', 'five twenty')],
  ])('writes a text %s on its own', (_, spoken) => {
    expect(written(spoken).text).toMatch(/^25/);
  });

  it('leaves words, times and all else as they are', () => {
    const spoken = {
      ...transcript('twenty', 'twenty'),
      words: [{ word: 'twenty', start: 0, end: 1, confidence: 0.9 }],
    };
    const answer = written(spoken);
    expect({ ...answer, text: '', segments: [] }).toEqual({ ...spoken, text: '', segments: [] });
    expect(answer.segments).toEqual([{ ...spoken.segments[0], text: '20' }]);
  });
});
