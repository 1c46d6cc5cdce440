/** Names of the form page's own controls, parameters and paths. Elements cannot use them. */
export const reservedPageNames: readonly string[] =
  '_add _changed _charset_ _done _drop _embed _entry _file _form _go _invitation _key _known _lang _mail _move _numbers _other _password _problem _progress _proof _remove _review _row _scheme _seen _seen_at _step _visit _website'.split(
    ' ',
  );

/** Returns whether a name in an HTML form or a URL belongs to the page: `_key`, `_other[colour]`. */
export const isReservedPageName = (name: string): boolean =>
  name.startsWith('_') && reservedPageNames.includes(name.split('[', 1)[0]!);
