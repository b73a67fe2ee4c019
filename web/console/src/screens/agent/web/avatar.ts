const SIDE = 96
const QUALITY = 0.85

/** The middle of a picture as a small square, as the address that holds it. @throws where the browser can't read the file. */
export async function avatarOf(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file)
  const side = Math.min(picture.width, picture.height)
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const [left, top] = [(picture.width - side) / 2, (picture.height - side) / 2]
  canvas.getContext('2d')?.drawImage(picture, left, top, side, side, 0, 0, SIDE, SIDE)
  picture.close()
  return canvas.toDataURL('image/webp', QUALITY)
}
