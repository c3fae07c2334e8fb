import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { englishNormalizer } from '@switchyard/itn-en/english-normalizer.js';
import { formatSrt } from '../../contracts/formats/subtitles.js';
import { transcriptEvents } from '../../contracts/formats/transcript-events.js';
import { WrittenForm } from './written-form.js';

const rest = { tokens: [], temperature: 0, avgLogprob: 0, noSpeechProb: 0 };

function transcript(text: string, ...segments: readonly string[]): Transcript {
  const timed = segments.map((segment, id) => ({
    id,
    start: id,
    end: id + 1,
    text: segment,
    ...rest,
  }));
  return {
    text,
    language: 'en',
    durationS: segments.length,
    segments: timed,
    words: [],
  };
}
const english = { wanted: true, demanded: false, languages: ['en'] };
const written = (spoken: Transcript) => new WrittenForm([englishNormalizer]).apply(spoken, english);

describe('writtenTranscript', () => {
  it('writes text and segments alike, white space kept', () => {
    const { text, segments } = written(
      transcript(
        'it was\n twenty five  and fifty percent',
        'it was',
        ' twenty five',
        'and fifty percent',
      ),
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
    const events = transcriptEvents(
      written(transcript('ten dollars ten percent', 'ten dollars', 'ten percent')),
    );
    expect(events.map(event => ('delta' in event ? event.delta : event.text))).toEqual([
      '$10',
      ' 10%',
      '$10 10%',
    ]);
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
    expect({ ...answer, text: '', segments: [] }).toEqual({
      ...spoken,
      text: '',
      segments: [],
    });
    expect(answer.segments).toEqual([{ ...spoken.segments[0], text: '20' }]);
  });
});

const broken = {
  language: 'xx',
  normalize: (): string => {
    throw new Error('a defect');
  },
};
const spokenIn = (language: string) => ({
  text: 'twenty five',
  language,
  durationS: 1,
  segments: [],
  words: [],
});
const params = (languages: readonly string[], wanted = true) => ({
  wanted,
  demanded: wanted,
  languages,
});

let logged: jest.SpiedFunction<Logger['error']>;
let form: WrittenForm;
beforeEach(() => {
  logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  form = new WrittenForm([englishNormalizer, broken]);
});
afterEach(() => logged.mockRestore());

describe('WrittenForm', () => {
  it.each([
    ['the one language of the model', ['en'], '', '25'],
    ['its regions', ['en-US', 'en-GB'], '', '25'],
    ['the language that was named, whatever the engine says', ['en-GB'], 'de', '25'],
    ['what the engine heard when anything is possible', [], 'EN-us', '25'],
    ['what the engine heard of several', ['de', 'en'], 'en', '25'],
    ['no language when the engine cannot tell', [], '', 'twenty five'],
    ['no language when it has no normaliser', ['de', 'fr'], 'en', 'twenty five'],
  ])('goes by %s', (_, languages, heard, text) => {
    expect(form.apply(spokenIn(heard), params(languages)).text).toBe(text);
  });

  it('does nothing unless wanted', () => {
    const spoken = spokenIn('en');
    expect(form.apply(spoken, params(['en'], false))).toBe(spoken);
  });

  it.each<[string, () => string | undefined]>([
    ['the whole', () => form.apply(spokenIn('xx'), params([])).text],
    ['a piece', () => form.ahead(params(['xx']))?.('twenty five')],
  ])('leaves %s in the spoken form when a normaliser throws, and logs that once', (_, shown) => {
    for (let time = 0; time < 3; time += 1) expect(shown()).toBe('twenty five');
    expect(logged).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('twenty');
  });

  it.each([
    ['what is not wanted', ['en'], false, 'twenty five'],
    ['a language without a normaliser', ['de'], true, 'twenty five'],
    ['one language', ['en-GB'], true, '25'],
    ['languages that differ', ['de', 'en'], true, undefined],
  ])('knows ahead how %s is written', (_, languages, wanted, text) => {
    expect(form.ahead(params(languages, wanted))?.('twenty five')).toBe(text);
  });

  it.each([[['en']], [['de', 'en-GB']], [[]]])('can be demanded of %j', languages => {
    expect(() => form.demand(params(languages))).not.toThrow();
  });

  it('is refused when no language the text can be in has a normaliser', () => {
    expect(() => form.demand(params(['de', 'fr']))).toThrow(
      expect.objectContaining({
        code: 'unsupported_parameter',
        message: expect.stringContaining('de or fr'),
      }),
    );
    expect(() => form.demand({ wanted: true, demanded: false, languages: ['de'] })).not.toThrow();
  });
});
