import type { ReactElement } from 'react';
import type { LocaleChoice } from '#ast/locales.ts';
import { isColour } from '#ast/theme/colour.ts';
import { defaultColour, paletteOf, schemesOf } from '#ast/theme/palette.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { imageAddress } from '#page/theme/look.ts';
import { Select } from '../../design/select.tsx';
import { ColourField } from './colour-field.tsx';
import { ContrastNote } from './contrast-note.tsx';
import { settingTitles, themeTitles } from '../settings/setting-words.ts';
import { ImageField } from './image-field.tsx';
import {
  changedTheme,
  cornerChoices,
  densityChoices,
  drawableTheme,
  fontChoices,
  localeLabels,
  modeChoices,
  presets,
  type ThemeChange,
} from './theme-choices.ts';

type PanelProps = {
  readonly formId: string;
  readonly workspaceId: string;
  readonly theme: Theme;
  readonly locale: LocaleChoice;
  readonly isReadOnly: boolean;
  /** What keeps a part of it from being published. */
  readonly error: (field: string) => string | undefined;
  readonly onTheme: (change: ThemeChange) => void;
  readonly onLocale: (locale: LocaleChoice) => void;
};

/** Everything that can be chosen of a form's look. */
export function ThemePanel(props: PanelProps): ReactElement {
  return (
    <>
      <Colours {...props} />
      <Shape {...props} />
      <Images {...props} />
    </>
  );
}

function Colours({ theme, isReadOnly, error, onTheme }: PanelProps): ReactElement {
  const { color = '', background = '' } = theme;
  const drawable = drawableTheme(theme);
  const plain = changedTheme(drawable, { background: undefined }) ?? {};
  const [chosen] = schemesOf(theme);
  const problem = (text: string): string | undefined =>
    text === '' || isColour(text) ? undefined : 'Write a colour like #0b6655.';
  return (
    <>
      <div className="swatches" role="group" aria-label="Colours to begin with">
        {presets.map((preset) => (
          <button
            key={preset.color}
            type="button"
            className="swatch"
            title={preset.name}
            aria-label={preset.name}
            aria-pressed={(color || defaultColour) === preset.color}
            disabled={isReadOnly}
            style={{ background: preset.color }}
            onClick={() => onTheme({ color: preset.color })}
          />
        ))}
      </div>
      <ColourField
        label={themeTitles.color}
        description="Of buttons, of what is chosen, and of the focus."
        value={color}
        fallback={defaultColour}
        error={problem(color) ?? error('theme.color')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ color: text === '' ? undefined : text })}
      />
      {(color === '' || isColour(color)) && (
        <ContrastNote
          theme={drawable}
          isReadOnly={isReadOnly}
          onColour={(shade) => onTheme({ color: shade })}
        />
      )}
      <ColourField
        label={themeTitles.background}
        description="Of what the page lies on, on screens wider than a phone’s."
        value={background}
        fallback={paletteOf(plain, chosen).ground}
        error={problem(background) ?? error('theme.background')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ background: text === '' ? undefined : text })}
      />
      <Select
        label={themeTitles.mode}
        value={theme.mode ?? 'auto'}
        choices={modeChoices}
        isDisabled={isReadOnly}
        onChange={(mode) => onTheme({ mode: mode === 'auto' ? undefined : mode })}
      />
    </>
  );
}

function Shape({ theme, locale, isReadOnly, error, onTheme, onLocale }: PanelProps): ReactElement {
  return (
    <>
      <Select
        label={themeTitles.font}
        value={theme.font ?? 'system'}
        choices={fontChoices}
        isDisabled={isReadOnly}
        onChange={(font) => onTheme({ font: font === 'system' ? undefined : font })}
      />
      <div className="theme-pair">
        <Select
          label={themeTitles.corner}
          value={theme.corner ?? 'soft'}
          choices={cornerChoices}
          isDisabled={isReadOnly}
          onChange={(corner) => onTheme({ corner: corner === 'soft' ? undefined : corner })}
        />
        <Select
          label={themeTitles.density}
          value={theme.density ?? 'regular'}
          choices={densityChoices}
          isDisabled={isReadOnly}
          onChange={(density) => onTheme({ density: density === 'regular' ? undefined : density })}
        />
      </div>
      <Select
        label={settingTitles.locale}
        description="Of buttons and messages. Your own texts stay as you wrote them."
        value={locale}
        choices={localeLabels}
        isDisabled={isReadOnly}
        error={error('locale')}
        onChange={onLocale}
      />
    </>
  );
}

function Images({ formId, workspaceId, theme, isReadOnly, error, onTheme }: PanelProps): ReactElement {
  const place = (id: string | undefined): string | undefined => id && imageAddress(formId, id);
  const common = { workspaceId, isReadOnly };
  return (
    <>
      <ImageField
        {...common}
        label={themeTitles.logo}
        description="Above the title, 56 px high. PNG, JPEG or WebP, at most 2 MB."
        address={place(theme.logo)}
        error={error('theme.logo')}
        onChange={(logo) => onTheme({ logo })}
      />
      <ImageField
        {...common}
        label={themeTitles.cover}
        description="Across the top, cut to 4 by 1. PNG, JPEG or WebP, at most 2 MB."
        address={place(theme.cover)}
        error={error('theme.cover')}
        onChange={(cover) => onTheme({ cover })}
      />
    </>
  );
}
