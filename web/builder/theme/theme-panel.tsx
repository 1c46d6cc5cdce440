import type { ReactElement } from 'react';
import type { LocaleChoice } from '#ast/locales.ts';
import { settingRows } from '#ast/settings-table.ts';
import { accentContrast, suggestColour, suggestPaper, themeParts } from '#ast/theme/check-theme.ts';
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
import { ColourField } from './colour-field.tsx';
import { ImageField } from './image-field.tsx';
import { changedTheme, drawableTheme, presets, type ThemeChange } from './theme-choices.ts';

type NoteProps = {
  /** A theme whose colours are colours. */
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  readonly onColour: (color: string) => void;
};

/** How well the accent reads, as it is chosen; below 4.5:1 with the nearest shade that would be accepted. */
function ContrastNote({ theme, isReadOnly, onColour }: NoteProps): ReactElement {
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
        fallback={paletteOf(changedTheme(drawable, { paper: undefined }) ?? {}, chosen).paper}
        error={problem(paper) ?? paperProblem(drawable) ?? error('theme.paper')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ paper: text === '' ? undefined : text })}
      />
      <Select
        label={themeParts.mode.title}
        value={theme.mode ?? 'auto'}
        choices={themeParts.mode.choices}
        isDisabled={isReadOnly}
        onChange={(mode) => onTheme({ mode: mode === 'auto' ? undefined : mode })}
      />
    </>
  );
}

/** What keeps text from being read on the paper, as it is chosen. */
const paperProblem = (theme: Theme): string | undefined =>
  theme.paper !== undefined && paperContrast(theme) < inkContrast
    ? `Text cannot be read on it. ${suggestPaper(theme)} is the nearest that it can.`
    : undefined;

function Shape({ theme, locale, isReadOnly, error, onTheme, onLocale }: PanelProps): ReactElement {
  return (
    <>
      <Select
        label={themeParts.font.title}
        value={theme.font ?? 'system'}
        choices={themeParts.font.choices}
        isDisabled={isReadOnly}
        onChange={(font) => onTheme({ font: font === 'system' ? undefined : font })}
      />
      <div className="theme-pair">
        <Select
          label={themeParts.corner.title}
          value={theme.corner ?? 'soft'}
          choices={themeParts.corner.choices}
          isDisabled={isReadOnly}
          onChange={(corner) => onTheme({ corner: corner === 'soft' ? undefined : corner })}
        />
        <Select
          label={themeParts.density.title}
          value={theme.density ?? 'regular'}
          choices={themeParts.density.choices}
          isDisabled={isReadOnly}
          onChange={(density) => onTheme({ density: density === 'regular' ? undefined : density })}
        />
      </div>
      <Select
        label={settingRows.locale.title}
        description={settingRows.locale.help}
        value={locale}
        choices={settingRows.locale.choices}
        isDisabled={isReadOnly}
        error={error('locale')}
        onChange={onLocale}
      />
    </>
  );
}

/** What a text is to be in a theme: none, when nothing is left of it. */
const textOf = (text: string): string | undefined => (text.trim() === '' ? undefined : text);

function Words({ theme, isReadOnly, error, onTheme }: PanelProps): ReactElement {
  return (
    <>
      <TextField
        label={themeParts.submit_label.title}
        placeholder="Submit"
        value={theme.submit_label ?? ''}
        error={error('theme.submit_label')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ submit_label: textOf(text) })}
      />
      <TextField
        label={themeParts.confirmation_title.title}
        placeholder="Thank you"
        description={themeParts.confirmation_title.help}
        value={theme.confirmation_title ?? ''}
        error={error('theme.confirmation_title')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ confirmation_title: textOf(text) })}
      />
      <Switch
        isSelected={theme.short_reference ?? false}
        isDisabled={isReadOnly}
        description={themeParts.short_reference.help}
        onChange={(isOn) => onTheme({ short_reference: isOn || undefined })}
      >
        {themeParts.short_reference.title}
      </Switch>
    </>
  );
}

/** What browsers and other sites show beside the page. */
function Links(props: PanelProps): ReactElement {
  const { theme, isReadOnly, error, onTheme } = props;
  return (
    <>
      <ThemeImage {...props} name="favicon" />
      <TextField
        label={themeParts.social_title.title}
        description={themeParts.social_title.help}
        value={theme.social_title ?? ''}
        error={error('theme.social_title')}
        isReadOnly={isReadOnly}
        onChange={(text) => onTheme({ social_title: textOf(text) })}
      />
      <ThemeImage {...props} name="social_image" />
    </>
  );
}

function Images(props: PanelProps): ReactElement {
  return (
    <>
      <ThemeImage {...props} name="logo" />
      {schemesOf(props.theme).includes('dark') && <ThemeImage {...props} name="logo_dark" />}
      <ThemeImage {...props} name="cover" />
    </>
  );
}

type ImageProps = PanelProps & {
  readonly name: 'logo' | 'logo_dark' | 'cover' | 'favicon' | 'social_image';
};

function ThemeImage({ name, formId, workspaceId, theme, ...panel }: ImageProps): ReactElement {
  const id = theme[name];
  return (
    <ImageField
      label={themeParts[name].title}
      description={`${themeParts[name].help} PNG, JPEG or WebP, at most 10 MB.`}
      workspaceId={workspaceId}
      address={id && imageAddress(formId, id)}
      error={panel.error(`theme.${name}`)}
      isReadOnly={panel.isReadOnly}
      onChange={(image) => panel.onTheme({ [name]: image })}
    />
  );
}
