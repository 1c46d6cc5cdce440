// Before the first paint, so that nobody sees the wrong theme flash by. Kept in step with shell/theme.ts.
const theme = localStorage.getItem('formloom.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
