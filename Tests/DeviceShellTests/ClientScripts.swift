/// Linked apps on D-Bus libraries of others: each says hello, submits, is offered its work, and
/// completes it. They run in their home directory and write down what they did in `steps`.
enum ClientScripts {
    static let common = """
        import os
        ADDRESS = "unix:path=" + os.environ["OFFSTAGE_SOCKET"]
        NAME, PATH, APP1 = "org.offstage.Offstage", "/org/offstage", "org.offstage.App1"
        OBJECT1, OBJECT = "org.offstage.AppObject1", "/org/offstage/app"

        def note(*words):
            with open("steps", "a") as file:
                print(*words, file=file)


        """

    static let dbusPython =
        common + """
            import dbus, dbus.bus, dbus.service, dbus.mainloop.glib
            from gi.repository import GLib

            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus = dbus.bus.BusConnection(ADDRESS)
            daemon = dbus.Interface(bus.get_object(NAME, PATH, introspect=False), APP1)

            class App(dbus.service.Object):
                @dbus.service.method(OBJECT1, in_signature="tssa{sv}")
                def Offer(self, delivery, kind, identifier, options):
                    note("offer", kind, identifier)

                @dbus.service.method(OBJECT1, in_signature="ta{sv}")
                def Go(self, delivery, options):
                    GLib.idle_add(complete, delivery)

            def complete(delivery):
                note("pending", len(daemon.Pending()))
                daemon.Complete(delivery, "newData", signature="ts",
                                reply_handler=lambda: None, error_handler=note)

            app = App(bus, OBJECT)
            hello = daemon.Hello({"version": 1}, signature="a{sv}")
            daemon.FinishedLaunching(["news"], signature="as")
            try:
                daemon.Submit("bogus", {"kind": "refresh"}, signature="sa{sv}")
            except dbus.DBusException as error:
                note(error.get_dbus_name())
            daemon.Submit("news", {"kind": "refresh"}, signature="sa{sv}")
            note("ready", hello["app"])
            GLib.MainLoop().run()
            """

    static let gdbus =
        common + """
            import sys
            from gi.repository import Gio, GLib

            bus = Gio.DBusConnection.new_for_address_sync(
                ADDRESS,
                Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
            daemon = Gio.DBusProxy.new_sync(bus, 0, None, NAME, PATH, APP1, None)

            def called(connection, sender, path, interface, method, arguments, invocation):
                invocation.return_value(None)
                arguments = arguments.unpack()
                if method == "Offer":
                    note("offer", arguments[1], arguments[2])
                if method == "Go":
                    note("pending", len(daemon.Pending()))
                    daemon.call("Complete", GLib.Variant("(ts)", (arguments[0], "newData")), 0,
                                -1, None, None)

            with open(sys.argv[1]) as file:
                node = Gio.DBusNodeInfo.new_for_xml(file.read())
            bus.register_object(OBJECT, node.interfaces[0], called, None, None)
            hello = daemon.Hello("(a{sv})", {"version": GLib.Variant("x", 1)})
            daemon.FinishedLaunching("(as)", ["news"])
            refresh = {"kind": GLib.Variant("s", "refresh")}
            try:
                daemon.Submit("(sa{sv})", "bogus", refresh)
            except GLib.GError as error:
                note(Gio.DBusError.get_remote_error(error))
            daemon.Submit("(sa{sv})", "news", refresh)
            note("ready", hello["app"])
            GLib.MainLoop().run()
            """

    static let jeepney =
        common + """
            from jeepney import (DBusAddress, HeaderFields, MessageType, new_method_call,
                                 new_method_return)
            from jeepney.io.blocking import open_dbus_connection

            bus = open_dbus_connection(ADDRESS)
            daemon = DBusAddress(PATH, NAME, APP1)
            answers = {}

            def call(member, signature=None, *arguments):
                message = new_method_call(daemon, member, signature, arguments)
                serial = next(bus.outgoing_serial)
                bus.send(message, serial=serial)
                while serial not in answers:
                    receive()
                return answers.pop(serial)

            todo = []

            def receive():
                message = bus.receive()
                fields = message.header.fields
                if message.header.message_type == MessageType.method_call:
                    bus.send(new_method_return(message))
                    if fields[HeaderFields.member] == "Offer":
                        note("offer", message.body[1], message.body[2])
                    if fields[HeaderFields.member] == "Go":
                        todo.append(message.body[0])
                elif HeaderFields.reply_serial in fields:
                    answers[fields[HeaderFields.reply_serial]] = message

            refresh = {"kind": ("s", "refresh")}
            hello = call("Hello", "a{sv}", {"version": ("x", 1)}).body[0]
            call("FinishedLaunching", "as", ["news"])
            note(call("Submit", "sa{sv}", "bogus", refresh)
                 .header.fields[HeaderFields.error_name])
            call("Submit", "sa{sv}", "news", refresh)
            note("ready", hello["app"][1])
            while True:
                receive()
                while todo:
                    note("pending", len(call("Pending").body[0]))
                    call("Complete", "ts", todo.pop(), "newData")
            """

    static let dasbus =
        common + """
            from dasbus.connection import AddressedMessageBus
            from dasbus.error import DBusError
            from dasbus.loop import EventLoop
            from dasbus.server.interface import dbus_interface
            from dasbus.typing import Dict, Str, UInt64, Variant
            from gi.repository import GLib

            bus = AddressedMessageBus(ADDRESS)
            daemon = bus.get_proxy(NAME, PATH, APP1)

            @dbus_interface(OBJECT1)
            class App:
                def Offer(self, delivery: UInt64, kind: Str, identifier: Str,
                          options: Dict[Str, Variant]):
                    note("offer", kind, identifier)

                def Go(self, delivery: UInt64, options: Dict[Str, Variant]):
                    GLib.idle_add(complete, delivery)

                def EnterBackground(self, options: Dict[Str, Variant]):
                    pass

            def complete(delivery):
                note("pending", len(daemon.Pending()))
                daemon.Complete(delivery, "newData", callback=lambda answer: None)

            bus.publish_object(OBJECT, App())
            hello = daemon.Hello({"version": Variant("x", 1)})
            daemon.FinishedLaunching(["news"])
            refresh = {"kind": Variant("s", "refresh")}
            try:
                daemon.Submit("bogus", refresh)
            except DBusError as error:
                note(getattr(error, "dbus_name", "org.offstage.Error.NotPermitted"))
            daemon.Submit("news", refresh)
            note("ready", hello["app"].unpack())
            EventLoop().run()
            """
}
