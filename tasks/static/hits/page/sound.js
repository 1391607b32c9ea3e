/** One soft tone, made on the spot, for those who asked for sounds. */

export function tone() {
  try {
    const context = new AudioContext();
    const volume = context.createGain();
    volume.gain.setValueAtTime(0.0001, context.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.08, context.currentTime + 0.05);
    volume.gain.exponentialRampToValueAtTime(0.0001, context.currentTime + 0.9);
    const source = context.createOscillator();
    source.frequency.value = 523.25;
    source.connect(volume).connect(context.destination);
    source.start();
    source.stop(context.currentTime + 1);
    source.onended = () => context.close();
  } catch {
    // A browser without audio, or that forbids it, stays silent.
  }
}
