import worklet from './pcm-worklet.js?url';

const RATE = 24_000;
const WANTED = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

type OnAudio = (audio: ArrayBuffer, level: number) => void;

/** Records until `stop()`: 40 ms of PCM16 at 24 kHz a message, and their peak, 0 to 1. */
export class Microphone {
  #stream: MediaStream | undefined;
  #context: AudioContext | undefined;

  async start(onAudio: OnAudio): Promise<void> {
    if (!navigator.mediaDevices)
      throw new Error('Browsers give the microphone to https:// and localhost pages only.');
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
    const stream = this.#stream;
    this.#context = await listen(stream, { sampleRate: RATE }, onAudio).catch(() =>
      listen(stream, {}, onAudio),
    );
  }

  async stop(): Promise<void> {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    await this.#context?.close();
    this.#stream = this.#context = undefined;
  }
}

/**
 * Some browsers cannot run a microphone at another rate than its own; then
 * the worklet converts.
 */
async function listen(
  stream: MediaStream,
  options: AudioContextOptions,
  onAudio: OnAudio,
): Promise<AudioContext> {
  const context = new AudioContext(options);
  try {
    await context.audioWorklet.addModule(worklet);
    const capture = new AudioWorkletNode(context, 'pcm-capture', { numberOfOutputs: 0 });
    capture.port.onmessage = ({ data }: MessageEvent<{ audio: ArrayBuffer; level: number }>) =>
      onAudio(data.audio, data.level);
    context.createMediaStreamSource(stream).connect(capture);
    await context.resume();
    return context;
  } catch (error) {
    await context.close();
    throw error;
  }
}
