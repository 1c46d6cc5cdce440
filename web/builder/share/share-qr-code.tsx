import './share-view.css';
import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { QrCode, renderQrCodeSvg } from '../../design/qr-code.tsx';
import { downloadTextFile } from '../../design/save-file.ts';

/** The QR code with a download. Loaded when the share view opens, because the generator is 20 KB. */
export function ShareQrCode({ text, name }: { text: string; name: string }): ReactElement {
  const fileName = `${name.replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-') || 'form'}.svg`;
  return (
    <div className="shared-code">
      <QrCode text={text} label={`QR code for ${text}`} size={168} />
      <Button
        icon="download"
        onPress={() => downloadTextFile(fileName, renderQrCodeSvg(text), 'image/svg+xml')}
      >
        Download as SVG
      </Button>
    </div>
  );
}
