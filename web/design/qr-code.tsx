import makeCode from 'qrcode-generator';
import type { ReactElement } from 'react';

/** Light modules around the code. Readers need them (ISO 18004 requires 4). */
const margin = 4;

/** Draws a text as a QR code: one path, black on white in both themes, as readers expect. */
export function QrCode({ text, label, size }: { text: string; label: string; size: number }): ReactElement {
  const { path, width } = drawCode(text);
  return (
    <svg
      className="qr-code"
      width={size}
      height={size}
      viewBox={`0 0 ${width} ${width}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={width} height={width} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** Returns the QR code as an SVG file. */
export function renderQrCodeSvg(text: string): string {
  const { path, width } = drawCode(text);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${width}" shape-rendering="crispEdges"><rect width="${width}" height="${width}" fill="#fff"/><path d="${path}"/></svg>`;
}

/** In pixels, at least: enough for a poster. Each module is a whole number of pixels, so that edges are sharp. */
const pngWidth = 1_000;

/** Returns the QR code as a PNG file. */
export async function renderQrCodePng(text: string): Promise<Blob> {
  const { path, width } = drawCode(text);
  const scale = Math.ceil(pngWidth / width);
  const canvas = new OffscreenCanvas(width * scale, width * scale);
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(scale, scale);
  context.fillStyle = '#000';
  // `context.fill(path)` would do the same, but the linter takes it for `Array.fill`.
  context.clip(new Path2D(path));
  context.fillRect(0, 0, width, width);
  return canvas.convertToBlob({ type: 'image/png' });
}

function drawCode(text: string): { path: string; width: number } {
  const code = makeCode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  let path = '';
  for (let row = 0; row < count; row += 1)
    for (let column = 0; column < count; column += 1)
      if (code.isDark(row, column)) path += `M${column + margin} ${row + margin}h1v1h-1z`;
  return { path, width: count + 2 * margin };
}
