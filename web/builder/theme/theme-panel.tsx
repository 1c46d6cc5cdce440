import type { ReactElement } from 'react';
import type { LocaleChoice } from '#ast/basics/locales.ts';
import { accentContrast, suggestColour, suggestPaper } from '#ast/theme/check-theme.ts';
import {
  defaultColour,
  inkContrast,
  isColour,
  paletteOf,
  paperContrast,
  sayContrast,
  schemesOf,
  textContrast,
} from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { imageAddress } from '#page/theme/look.ts';
import { Button } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Select } from '../../design/select.tsx';
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
} from '../model/theme-choices.ts';
import { ImageField } from '../panel/image-field.tsx';
import { settingTitles, themeTitles } from '../settings/settings-values.ts';
import { ColourField } from './colour-field.tsx';

type NoteProps = {
  /** The theme, with valid colors only. */
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  readonly onColour: (color: string) => void;
};

/** Shows the contrast of the accent color, and below 4.5:1 the nearest shade that is accepted. */
function ContrastNote({ theme, isReadOnly, onColour }: NoteProps): ReactElement {
  const { ratio, scheme } = accentContrast(theme);
  const reads = ratio >= textContrast;
  return (
    <div className="contrast-note" data-reads={reads}>
      <p role="status">
        <Icon name={reads ? 'check' : 'warning'} />
        <span>
          Contrast {sayContrast(ratio)}
          {reads ? ', readable.' : ` on ${scheme} paper. Text needs ${textContrast}:1.`}
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
  /** Returns the problem that keeps a field from being published. */
  readonly error: (field: string) => string | undefined;
  readonly onTheme: (change: ThemeChange) => void;
  readonly onLocale: (locale: LocaleChoice) => void;
};

/** Edits the look of a form. */
export function ThemePanel(props: PanelProps): ReactElement {
  return (
    <>
      <Colours {...props} />
      <Shape {...props} />
      <Images {...props} />
      <Words {...props} />
      <Links {...props} />
    </>
  );
}

function Colours({ theme, isReadOnly, error, onTheme }: PanelProps): ReactElement {
  const { color = '', background = '', paper = '' } = theme;
  const drawable = drawableTheme(theme);
  const plain = changedTheme(drawable, { background: undefined }) ?? {};
  const [chosen] = schemesOf(theme);
  const problem = (text: string): string | undefined =>
    text === '' || isColour(text) ? undefined : 'Enter a color such as #0b6655.';
  return (
    <>
      <div className="swatches" role="group" aria-label="Preset colors">
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
        description="Used for buttons, selected options and focus outlines."
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
        description="The page background on screens wider than a phone."
        value={background}
        fallback={paletteOf(plain, chosen).ground}
        error={problem(background) ?? error('theme.background')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ background: text === '' ? undefined : text })}
      />
      <ColourField
        label={themeTitles.paper}
        description="The surface behind the questions: pale on a light page, dark on a dark page."
        value={paper}
        fallback={paletteOf(changedTheme(drawable, { paper: undefined }) ?? {}, chosen).paper}
        error={problem(paper) ?? paperProblem(drawable) ?? error('theme.paper')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ paper: text === '' ? undefined : text })}
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

/** Returns why text is not readable on the chosen paper color. */
const paperProblem = (theme: Theme): string | undefined =>
  theme.paper !== undefined && paperContrast(theme) < inkContrast
    ? `Text is not readable on this color. The nearest readable color is ${suggestPaper(theme)}.`
    : undefined;

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
        description="The language of buttons and messages. Your own texts stay unchanged."
        value={locale}
        choices={localeLabels}
        isDisabled={isReadOnly}
        error={error('locale')}
        onChange={onLocale}
      />
    </>
  );
}

/** Returns a theme text, or undefined if it is empty. */
const textOf = (text: string): string | undefined => (text.trim() === '' ? undefined : text);

function Words({ theme, isReadOnly, error, onTheme }: PanelProps): ReactElement {
  return (
    <>
      <TextField
        label={themeTitles.submit_label}
        placeholder="Submit"
        value={theme.submit_label ?? ''}
        error={error('theme.submit_label')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ submit_label: textOf(text) })}
      />
      <TextField
        label={themeTitles.confirmation_title}
        placeholder="Thank you"
        description="Edit the message below it in Settings."
        value={theme.confirmation_title ?? ''}
        error={error('theme.confirmation_title')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ confirmation_title: textOf(text) })}
      />
      <Switch
        isSelected={theme.short_reference ?? false}
        isDisabled={isReadOnly}
        description="Visitors get a 10-character reference instead of 36 characters. You can search for it."
        onChange={(isOn) => onTheme({ short_reference: isOn || undefined })}
      >
        {themeTitles.short_reference}
      </Switch>
    </>
  );
}

/** What browsers and other sites show about the page. */
function Links(props: PanelProps): ReactElement {
  const { theme, isReadOnly, error, onTheme } = props;
  return (
    <>
      <ThemeImage
        {...props}
        name="favicon"
        description="Shown in the browser tab. A square image works best."
      />
      <TextField
        label={themeTitles.social_title}
        description="Shown when the link is shared, instead of the form’s name."
        value={theme.social_title ?? ''}
        error={error('theme.social_title')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ social_title: textOf(text) })}
      />
      <ThemeImage
        {...props}
        name="social_image"
        description="Shown when the link is shared. 1200 × 630 pixels work best."
      />
    </>
  );
}

const imageKinds = 'PNG, JPEG or WebP, up to 10 MB.';

function Images(props: PanelProps): ReactElement {
  return (
    <>
      <ThemeImage {...props} name="logo" description={`Shown above the title, 56 px high. ${imageKinds}`} />
      {schemesOf(props.theme).includes('dark') && (
        <ThemeImage {...props} name="logo_dark" description="Replaces the logo on dark pages." />
      )}
      <ThemeImage
        {...props}
        name="cover"
        description={`Shown across the top, cropped to 4:1. ${imageKinds}`}
      />
    </>
  );
}

type ImageProps = PanelProps & {
  readonly name: 'logo' | 'logo_dark' | 'cover' | 'favicon' | 'social_image';
  readonly description: string;
};

function ThemeImage({ name, description, formId, workspaceId, theme, ...panel }: ImageProps): ReactElement {
  const id = theme[name];
  return (
    <ImageField
      label={themeTitles[name]}
      description={description}
      workspaceId={workspaceId}
      address={id && imageAddress(formId, id)}
      error={panel.error(`theme.${name}`)}
      isReadOnly={panel.isReadOnly}
      onChange={(image) => panel.onTheme({ [name]: image })}
    />
  );
}
