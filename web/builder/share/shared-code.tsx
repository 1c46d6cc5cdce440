import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { QrCode, qrCodeFile } from './qr-code.tsx';

/** The code with a way to keep it. Loaded when the share panel is opened: the generator is 20 KB. */
export function SharedCode({ text, name }: { text: string; name: string }): ReactElement {
  const download = (): void => {
    const address = URL.createObjectURL(new Blob([qrCodeFile(text)], { type: 'image/svg+xml' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${name.replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-') || 'form'}.svg`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <div className="row">
      <QrCode text={text} label={`QR code of ${text}`} size={168} />
      <Button icon="download" onPress={download}>
        Download as SVG
      </Button>
    </div>
  );
}
