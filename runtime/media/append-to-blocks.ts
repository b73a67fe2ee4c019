/**
 * Writes samples behind those there are into buffers of one size, and makes more of them as they are needed: collecting garbage takes as
 * long as there are buffers, however small they are.
 * @param end samples before, counted from the beginning of a block
 */
export function appendToBlocks(blocks: Int16Array[], blockSamples: number, end: number, samples: Int16Array): void {
  for (let at = 0; at < samples.length; ) {
    const filled = (end + at) % blockSamples
    if (filled === 0) blocks.push(new Int16Array(blockSamples))
    const piece = samples.subarray(at, at + blockSamples - filled)
    blocks.at(-1)!.set(piece, filled)
    at += piece.length
  }
}
