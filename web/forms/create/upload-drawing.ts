import { uploadImage } from '../../api/upload-image.ts';

/**
 * Uploads a drawing of ours to a workspace, as the pixels that its width and height say: what a workspace keeps are pictures.
 * @throws ApiProblem as `uploadImage` does; an error of the browser when the drawing does not arrive.
 */
export async function uploadDrawing(workspaceId: string, address: string): Promise<string> {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  canvas.getContext('2d')!.drawImage(image, 0, 0);
  const pixels = await canvas.convertToBlob();
  return uploadImage(workspaceId, new File([pixels], 'picture.png', { type: pixels.type }));
}
