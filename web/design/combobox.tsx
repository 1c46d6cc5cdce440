import './combobox.css';
import './menu.css';
import {
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  useEffect,
  useEffectEvent,
  useId,
  useRef,
  useState,
} from 'react';
import { Icon, type IconName } from './icon.tsx';

/** An option. IDs are unique across all groups. */
type ComboboxOption = {
  readonly id: string;
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly icon?: IconName;
};
export type ComboboxGroup = {
  readonly id: string;
  readonly title?: string;
  readonly options: readonly ComboboxOption[];
};

type Props = {
  /** Read by screen readers only. */
  label: string;
  placeholder?: string;
  value: string;
  /** @param caret the position of the caret, in UTF-16 units of the value. */
  onChange: (value: string, caret: number) => void;
  groups: readonly ComboboxGroup[];
  onChoose: (id: string) => void;
  /**
   * If true, the list is always open and Enter chooses the first option. Otherwise it opens on typing and
   * nothing is preselected.
   */
  isInline?: boolean;
  /** Whether the options belong to an earlier value. Enter then waits for the new ones. */
  isPending?: boolean;
  autoFocus?: boolean;
  inputRef?: Ref<HTMLInputElement>;
  /** The value with highlighting, rendered behind the text. */
  behind?: ReactNode;
  /** Buttons at the end of the box. */
  end?: ReactNode;
  /** The ID of the element that describes the problem. */
  problemId?: string | undefined;
};

/**
 * A text box with a list of suggestions (the ARIA combobox pattern). Arrow keys move in the list while the
 * focus stays in the box. Enter chooses. Escape closes the list, or clears the box if the list is closed.
 */
export function Combobox({
  label,
  placeholder,
  value,
  onChange,
  groups,
  onChoose,
  isInline = false,
  isPending = false,
  autoFocus = false,
  inputRef,
  behind,
  end,
  problemId,
}: Props): ReactElement {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [moved, setMoved] = useState<string>();
  const [isEntered, setEntered] = useState(false);
  const behindRef = useRef<HTMLDivElement>(null);
  const options = groups.flatMap((group) => group.options);
  const isShown = (isInline || isOpen) && options.length > 0;
  const first = isInline && !isPending ? options[0] : undefined;
  const chosen = options.find((option) => option.id === moved) ?? first;
  const active = isShown ? chosen?.id : undefined;
  const idOf = (option: string): string => `${id}-${option}`;

  useEffect(() => {
    if (moved !== undefined) document.getElementById(`${id}-${moved}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, moved]);

  const choose = (option: string): void => {
    setOpen(false);
    setMoved(undefined);
    onChoose(option);
  };
  const chooseFirst = useEffectEvent(() => {
    setEntered(false);
    if (first) choose(first.id);
  });
  useEffect(() => {
    if (isEntered && !isPending) chooseFirst();
  }, [isEntered, isPending]);
  const move = (step: 1 | -1): void => {
    const at = options.findIndex((option) => option.id === active);
    const next =
      at < 0 ? (step === 1 ? 0 : options.length - 1) : (at + step + options.length) % options.length;
    setOpen(true);
    setMoved(options[next]?.id);
  };
  const hear = (event: KeyboardEvent): void => {
    // While an input method composes text, it handles Enter and the arrow keys.
    if (event.nativeEvent.isComposing) return;
    const deeds: Readonly<Record<string, (() => void) | undefined>> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter:
        active !== undefined
          ? () => choose(active)
          : isInline && isPending
            ? () => setEntered(true)
            : undefined,
      Escape: isInline
        ? undefined
        : isShown
          ? () => setOpen(false)
          : value === ''
            ? undefined
            : () => onChange('', 0),
    };
    const deed = deeds[event.key];
    if (!deed) return;
    event.preventDefault();
    event.stopPropagation();
    deed();
  };

  return (
    <div className={`combobox${end ? ' combobox-has-end' : ''}`}>
      <div className="combobox-control">
        <Icon name="search" />
        {behind !== undefined && (
          <div className="combobox-behind" aria-hidden>
            <div ref={behindRef} className="combobox-text">
              {behind}
            </div>
          </div>
        )}
        <input
          ref={inputRef}
          type="text"
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={isShown ? id : undefined}
          aria-activedescendant={active === undefined ? undefined : idOf(active)}
          aria-invalid={problemId !== undefined}
          aria-describedby={problemId}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="search"
          className="field-input combobox-input"
          placeholder={placeholder}
          value={value}
          // A dialog that contains this box is opened only to type in it.
          autoFocus={autoFocus}
          onChange={({ target }) => {
            setOpen(true);
            setMoved(undefined);
            setEntered(false);
            onChange(target.value, target.selectionStart ?? target.value.length);
          }}
          onKeyDown={hear}
          onBlur={() => setOpen(false)}
          onScroll={({ currentTarget }) => {
            if (behindRef.current) behindRef.current.scrollLeft = currentTarget.scrollLeft;
          }}
        />
        {end && <div className="combobox-end">{end}</div>}
      </div>
      {isShown && (
        <div
          id={id}
          role="listbox"
          aria-label={label}
          className={`combobox-list ${isInline ? 'combobox-inline' : 'combobox-popup'}`}
        >
          {groups.map(
            (group) =>
              group.options.length > 0 && (
                <div key={group.id} role="group" aria-label={group.title ?? label}>
                  {group.title && (
                    <p className="menu-heading" aria-hidden>
                      {group.title}
                    </p>
                  )}
                  {group.options.map(({ id: option, label: text, description, icon }) => (
                    // The keys also work if an option receives the focus.
                    <div
                      key={option}
                      id={idOf(option)}
                      role="option"
                      aria-selected={option === active}
                      tabIndex={-1}
                      className="menu-item"
                      onKeyDown={hear}
                      onMouseDown={(event) => event.preventDefault()}
                      onClick={() => choose(option)}
                    >
                      {icon && <Icon name={icon} />}
                      <span className="menu-item-text">
                        <span>{text}</span>
                        {description && <span className="menu-item-description">{description}</span>}
                      </span>
                    </div>
                  ))}
                </div>
              ),
          )}
        </div>
      )}
    </div>
  );
}
