const RATE = 24_000;
const WANTED = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/** Records until `stop()`. `onAudio(buffer, level)` gets 40 ms of PCM16 at 24 kHz and their peak, 0 to 1. */
export class Microphone {
  #stream;
  #context;

  async start(onAudio) {
    if (!navigator.mediaDevices) throw new Error('Browsers give the microphone to https:// and localhost pages only.');
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
    this.#context = await this.#listen(RATE, onAudio).catch(() => this.#listen(undefined, onAudio));
  }

  async stop() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    await this.#context?.close();
    this.#stream = this.#context = undefined;
  }

  /** Some browsers cannot run a microphone at another rate than its own; then the worklet converts. */
  async #listen(sampleRate, onAudio) {
    const context = new AudioContext({ sampleRate });
    try {
      await context.audioWorklet.addModule('/console/realtime/pcm-worklet.js');
      const capture = new AudioWorkletNode(context, 'pcm-capture', { numberOfOutputs: 0 });
      capture.port.onmessage = ({ data }) => onAudio(data.audio, data.level);
      context.createMediaStreamSource(this.#stream).connect(capture);
      await context.resume();
      return context;
    } catch (error) {
      await context.close();
      throw error;
    }
  }
}
