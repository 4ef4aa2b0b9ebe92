"""Reports as people write them in their language: of a bug, short, with technical words in English."""

from triage.domain.issue import Issue

VAGUE: dict[str, Issue] = {
    "de": Issue(title="Startet nicht mehr", body="Hallo, seit dem letzten Update startet das Programm nicht mehr. Hat jemand eine Idee?"),
    "en": Issue(title="Does not start", body="Hi, since the last update it does not start any more. Any idea?"),
    "es": Issue(title="No arranca", body="Hola, desde la última actualización el programa no arranca. ¿Alguna idea?"),
    "fr": Issue(title="Ne démarre plus", body="Bonjour, depuis la dernière mise à jour l'appli ne démarre plus. Une idée ?"),
    "it": Issue(title="Non parte più", body="Ciao, dall'ultimo aggiornamento il programma non parte più. Qualche idea?"),
    "ja": Issue(title="起動しません", body="アップデートしたら起動しなくなりました。どうすればいいでしょうか？"),
    "ko": Issue(title="실행이 안 됩니다", body="업데이트하고 나서 프로그램이 실행되지 않습니다. 어떻게 해야 하나요?"),
    "nl": Issue(title="Start niet meer", body="Hoi, sinds de laatste update start het programma niet meer. Iemand een idee?"),
    "pl": Issue(title="Nie uruchamia się", body="Cześć, od ostatniej aktualizacji program się nie uruchamia. Jakieś pomysły?"),
    "pt": Issue(title="Não abre mais", body="Olá, depois da última atualização o programa não abre mais. Alguma ideia?"),
    "ru": Issue(title="Не запускается", body="Здравствуйте, после обновления программа не запускается. Что делать?"),
    "tr": Issue(title="Açılmıyor", body="Merhaba, son güncellemeden sonra program açılmıyor. Ne yapmalıyım?"),
    "uk": Issue(title="Не запускається", body="Вітаю, після оновлення програма не запускається. Що робити?"),
    "zh-Hans": Issue(title="无法启动", body="更新之后程序就一直无法启动，请问怎么解决？"),
    "zh-Hant": Issue(title="無法啟動", body="更新之後程式就一直無法啟動，請問該怎麼處理？"),
}  # fmt: skip
"""Nothing in them says how to see the problem, or with which version."""

_PICTURE = "![image](https://user-images.githubusercontent.com/1/2.png)"

WITH_ENGLISH_WORDS: dict[str, Issue] = {
    "de": Issue(title="Docker-Container startet ständig neu", body="Nach `docker compose up` startet der Worker im Loop. Im Log steht nur connection refused, der Healthcheck vom Backend ist aber ok."),
    "es": Issue(title="Error 500 al subir archivos", body="Al subir un archivo grande el backend responde con un 500 y en el log solo aparece timeout. Uso docker compose con nginx como reverse proxy."),
    "fr": Issue(title="Le build échoue avec Node 20", body="Quand je lance `npm run build` le build échoue au step lint, alors que le dev server tourne sans problème."),
    "it": Issue(title="Il container si riavvia di continuo", body="Il container continua a riavviarsi, nei log vedo solo connection refused. Il reverse proxy sembra a posto."),
    "ja": Issue(title="docker compose up で worker が落ちる", body="docker compose up すると worker が connection refused で落ちます。backend の healthcheck は OK です。"),
    "ko": Issue(title="docker compose up 하면 worker 가 죽어요", body="docker compose up 하면 worker 컨테이너가 connection refused 로 계속 restart 됩니다."),
    "nl": Issue(title="Build faalt op Windows", body="De build faalt op Windows met een permission denied, op Linux werkt dezelfde pipeline gewoon."),
    "pl": Issue(title="Build nie przechodzi w CI", body="Po zmianie na Node 20 build nie przechodzi w CI, lokalnie dev server działa bez problemu."),
    "pt": Issue(title="Build quebra no npm install", body="O build do docker está quebrando no npm install, mas o dev server roda normalmente na minha máquina."),
    "ru": Issue(title="docker compose: контейнер перезапускается", body="После docker compose up контейнер worker постоянно перезапускается, в логах connection refused."),
    "tr": Issue(title="Build CI üzerinde hata veriyor", body="Node 20 sürümüne geçince build CI üzerinde hata veriyor, dev server ise sorunsuz çalışıyor."),
    "uk": Issue(title="docker compose: контейнер перезапускається", body="Після docker compose up контейнер worker постійно перезапускається, у логах connection refused."),
    "zh-Hans": Issue(title="docker compose 启动之后 worker 一直 restart", body="用 docker compose 部署之后 worker 一直 restart，看 log 是 connection refused，backend 的 healthcheck 是正常的。"),
    "zh-Hant": Issue(title="docker compose 啟動之後 worker 一直 restart", body="用 docker compose 部署之後 worker 一直 restart，log 只有 connection refused，backend 的 healthcheck 是正常的。"),
}  # fmt: skip

IN_ENGLISH_FORM: dict[str, Issue] = {
    language: Issue(
        title=f"[Bug]: {report.title}",
        body="### Checklist\n\n- [x] I have searched the existing issues and this is not a duplicate.\n"
        "- [x] I am using the latest version of the application.\n\n### What happened?\n\n"
        f"{report.body}\n\n### Steps to reproduce\n\n_No response_\n",
    )
    for language, report in VAGUE.items()
}
"""English headings and boxes around the reporter's words."""

WITH_PICTURE: dict[str, Issue] = {
    "de": Issue(title="Fehler beim Speichern", body=f"Beim Speichern kommt diese Meldung, error siehe Bild:\n\n{_PICTURE}"),
    "zh-Hans": Issue(title="保存报错 error", body=f"点击保存之后弹出这个报错信息，见截图：\n\n{_PICTURE}"),
}  # fmt: skip

ENGLISH_WITH_FOREIGN_WORDS: list[Issue] = [
    Issue(title="Searching for 你好世界 gives no result", body="Open the search box, type 你好世界 and press enter. Nothing is found, though the page has it."),
    Issue(title="Wrong line break in Japanese text", body="The text “こんにちは世界、今日はいい天気ですね” is broken in the middle of a word by the renderer."),
    Issue(title="Umlauts in file names break the upload", body='A file called "Übersicht für den Monat März und April.pdf" cannot be uploaded.'),
    Issue(title="Russian month names are wrong", body="In the calendar the month is shown as `январь` and not as `января`, which is wrong after a day."),
    Issue(title='German "Datei öfnen und danach wieder schließen"', body='Correct: "Datei öffnen und danach wieder schließen".'),
    Issue(title="Typo in the German translation", body='The button says "Datei öfnen und danach wieder schließen", it should say “Datei öffnen und danach wieder schließen”.'),
]  # fmt: skip
