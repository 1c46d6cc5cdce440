import type { ReactElement } from 'react';
import type { LocaleChoice } from '#ast/basics/language-tags.ts';
import { settingRows } from '#ast/settings-table.ts';
import {
  accentContrast,
  suggestColour,
  suggestPaper,
  themePart,
  themeParts,
} from '#ast/theme/check-theme.ts';
import {
  defaultColour,
  formatContrast,
  isColour,
  minInkContrast,
  minTextContrast,
  paletteOf,
  paperContrast,
  schemesOf,
} from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Select } from '../../design/select.tsx';
import { applyThemeChange, drawableTheme, presetColours, type ThemeChange } from '../model/theme-choices.ts';
import { DeclaredField } from '../settings/declared-field.tsx';

type NoteProps = {
  /** The theme without incomplete color values. */
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  readonly onColour: (color: string) => void;
};

/** Shows the contrast of the accent color, and below 4.5:1 the nearest shade that is accepted. */
function ContrastNote({ theme, isReadOnly, onColour }: NoteProps): ReactElement {
  const { ratio, scheme } = accentContrast(theme);
  const reads = ratio >= minTextContrast;
  return (
    <div className="contrast-note" data-reads={reads}>
      <p role="status">
        <Icon name={reads ? 'check' : 'warning'} />
        <span>
          Contrast {formatContrast(ratio)}
          {reads ? ', readable.' : ` on ${scheme} paper. Text needs ${minTextContrast}:1.`}
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

type PanelProps = {
  readonly formId: string;
  readonly workspaceId: string;
  readonly theme: Theme;
  readonly locale: LocaleChoice;
  readonly isReadOnly: boolean;
  /** Returns the problem with a field that prevents publishing. */
  readonly error: (field: string) => string | undefined;
  readonly onTheme: (change: ThemeChange) => void;
  readonly onLocale: (locale: LocaleChoice) => void;
};

/** The controls for all parts of the theme. */
export function ThemePanel(props: PanelProps): ReactElement {
  return (
    <>
      <Colours {...props} />
      <ThemeField {...props} name="font" />
      <div className="theme-pair">
        <ThemeField {...props} name="corner" />
        <ThemeField {...props} name="density" />
      </div>
      <PageLanguage {...props} />
      <ThemeField {...props} name="logo" />
      {schemesOf(props.theme).includes('dark') && <ThemeField {...props} name="logo_dark" />}
      <ThemeField {...props} name="cover" />
      <ThemeField {...props} name="submit_label" placeholder="Submit" />
      <ThemeField {...props} name="confirmation_title" placeholder="Thank you" />
      <ThemeField {...props} name="short_reference" />
      <ThemeField {...props} name="favicon" />
      <ThemeField {...props} name="social_title" />
      <ThemeField {...props} name="social_image" />
    </>
  );
}

function Colours(props: PanelProps): ReactElement {
  const { theme, isReadOnly, error, onTheme } = props;
  const { color = '', background = '', paper = '' } = theme;
  const drawable = drawableTheme(theme);
  const plain = applyThemeChange(drawable, { background: undefined }) ?? {};
  const [chosen] = schemesOf(theme);
  const problem = (text: string): string | undefined =>
    text === '' || isColour(text) ? undefined : 'Enter a color such as #0b6655.';
  return (
    <>
      <div className="swatches" role="group" aria-label="Preset colors">
        {presetColours.map((preset) => (
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
        label={themeParts.color.title}
        description={themeParts.color.help}
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
        label={themeParts.background.title}
        description={themeParts.background.help}
        value={background}
        fallback={paletteOf(plain, chosen).ground}
        error={problem(background) ?? error('theme.background')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ background: text === '' ? undefined : text })}
      />
      <ColourField
        label={themeParts.paper.title}
        description={themeParts.paper.help}
        value={paper}
        fallback={paletteOf(applyThemeChange(drawable, { paper: undefined }) ?? {}, chosen).paper}
        error={problem(paper) ?? paperProblem(drawable) ?? error('theme.paper')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ paper: text === '' ? undefined : text })}
      />
      <ThemeField {...props} name="mode" />
    </>
  );
}

/** Returns why text on the chosen background is not readable. */
const paperProblem = (theme: Theme): string | undefined =>
  theme.paper !== undefined && paperContrast(theme) < minInkContrast
    ? `Text is not readable on this color. The nearest readable color is ${suggestPaper(theme)}.`
    : undefined;

/** The language of the page's built-in texts. */
function PageLanguage({ locale, isReadOnly, error, onLocale }: PanelProps): ReactElement {
  const { title, help, choices } = settingRows.locale;
  return (
    <Select
      label={title}
      description={help}
      value={locale}
      choices={choices}
      isDisabled={isReadOnly}
      error={error('locale')}
      onChange={onLocale}
    />
  );
}

type FieldProps = PanelProps & {
  readonly name: Exclude<keyof Theme, 'color' | 'background' | 'paper'>;
  readonly placeholder?: string;
};

/** The control for a part of the theme, as its row in the table declares it. */
function ThemeField({ name, placeholder, theme, onTheme, ...props }: FieldProps): ReactElement | null {
  const { title, help = '', control, choices, default: byDefault } = themePart(name);
  const value = theme[name] ?? byDefault;
  const isImage = control === 'image';
  const address = typeof value === 'string' && value !== '' ? imageAddress(props.formId, value) : undefined;
  return (
    <DeclaredField
      label={title}
      description={isImage ? `${help} PNG, JPEG or WebP, at most 10 MB.` : help}
      error={props.error(`theme.${name}`)}
      control={control}
      choices={choices}
      value={value}
      isReadOnly={props.isReadOnly}
      placeholder={placeholder}
      {...(isImage && { image: { workspaceId: props.workspaceId, address } })}
      onChange={(next) => {
        const isNone = next === byDefault || (typeof next === 'string' && next.trim() === '');
        onTheme({ [name]: isNone ? undefined : next });
      }}
    />
  );
}

type ColourProps = {
  readonly label: string;
  readonly description?: string;
  /** The text entered, which may not be a valid color; '' for none. */
  readonly value: string;
  /** The color that the picker shows if none is chosen. */
  readonly fallback: string;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
};

/** A color field with the browser's picker and a text box for `#rrggbb`. */
export function ColourField({ fallback, value, onChange, isReadOnly, ...rest }: ColourProps): ReactElement {
  const shown = /^#[0-9a-f]{6}$/i.test(value) ? value : fallback;
  return (
    <div className="colour-field">
      <TextField
        {...rest}
        value={value}
        placeholder={fallback}
        spellCheck="false"
        isReadOnly={isReadOnly}
        onChange={(text) => onChange(text.trim().toLowerCase())}
      />
      <input
        type="color"
        aria-label={`${rest.label}: pick`}
        value={shown}
        disabled={isReadOnly}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
