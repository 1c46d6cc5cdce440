import type { ReactElement } from 'react';
import { accentContrast, suggestColour } from '#ast/theme/check-theme.ts';
import { sayContrast } from '#ast/theme/colour.ts';
import { textContrast } from '#ast/theme/palette.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';

type NoteProps = {
  /** A theme whose colours are colours. */
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  readonly onColour: (color: string) => void;
};

/** How well the accent reads, as it is chosen; below 4.5:1 with the nearest shade that would be accepted. */
export function ContrastNote({ theme, isReadOnly, onColour }: NoteProps): ReactElement {
  const { ratio, scheme } = accentContrast(theme);
  const reads = ratio >= textContrast;
  return (
    <div className="contrast-note" data-reads={reads}>
      <p role="status">
        <Icon name={reads ? 'check' : 'warning'} />
        <span>
          Contrast {sayContrast(ratio)}
          {reads ? ', readable.' : ` on ${scheme} paper: text needs ${textContrast}:1.`}
        </span>
      </p>
      {!reads && (
        <Button size="small" isDisabled={isReadOnly} onPress={() => onColour(suggestColour(theme))}>
          Use {suggestColour(theme)}
        </Button>
      )}
    </div>
  );
}
