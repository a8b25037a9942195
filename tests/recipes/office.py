"""What a person does in LibreOffice, over its own interface: run by Debian's Python, which has `uno`.

Run: python3 office.py PIPE TASK ARGUMENT …
"""

import json
import sys
import time
from pathlib import Path

import uno
import unohelper
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.task import XInteractionHandler

CSV = "Text - txt - csv (StarCalc)"
COMMAS_IN_UTF8 = "44,34,76,1"


def option(name, value):
    return PropertyValue(name, 0, value, 0)


class Person(unohelper.Base, XInteractionHandler):
    """Enters a name and a key, once, when LibreOffice asks for them."""

    def __init__(self, key):
        self.key, self.asked = key, 0

    def handle(self, request):
        self.asked += 1
        for each in request.getContinuations():
            if hasattr(each, "setPassword") and self.asked == 1:
                each.setUserName("any")
                each.setPassword(self.key)
                each.select()
                return


def connect(pipe):
    """Return LibreOffice's context, when it has started."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.1)


def make(context, service):
    return context.ServiceManager.createInstanceWithContext(service, context)


def calc(context, url, key):
    """Open a CSV file by its address, and return its cells."""
    person = Person(key)
    options = [
        option("Hidden", True),
        option("FilterName", CSV),
        option("FilterOptions", COMMAS_IN_UTF8),
        option("InteractionHandler", person),
    ]
    sheet = make(context, "com.sun.star.frame.Desktop").loadComponentFromURL(url, "_blank", 0, tuple(options))
    if sheet is None:
        return {"asked": person.asked, "cells": None}
    cursor = sheet.Sheets[0].createCursor()
    cursor.gotoEndOfUsedArea(False)
    cells = (
        sheet.Sheets[0]
        .getCellRangeByPosition(0, 0, cursor.RangeAddress.EndColumn, cursor.RangeAddress.EndRow)
        .getDataArray()
    )
    sheet.close(True)
    return {"asked": person.asked, "cells": cells}


def base(context, source, query, folder):
    """Make a database document of an ODBC source, open it again, and return what a query answers."""
    path = Path(folder, "figures.odb").as_uri()
    sources = make(context, "com.sun.star.sdb.DatabaseContext")
    made = sources.createInstance()
    made.URL = f"sdbc:odbc:{source}"
    made.DatabaseDocument.storeAsURL(path, ())
    made.DatabaseDocument.close(True)
    connection = sources.getByName(path).getConnection("", "")
    answer = connection.createStatement().executeQuery(query)
    columns = answer.getMetaData().getColumnCount()
    rows = []
    while answer.next():
        rows.append([answer.getString(column) for column in range(1, columns + 1)])
    tables = list(connection.getTables().getElementNames())
    connection.close()
    return {"rows": rows, "tables": tables}


def main(pipe, task, *arguments):
    context = connect(pipe)
    try:
        print(json.dumps({"calc": calc, "base": base}[task](context, *arguments)))
    finally:
        make(context, "com.sun.star.frame.Desktop").terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
